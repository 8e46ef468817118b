import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type RunningServer, startCommand } from './harness/command.ts'
import { makeStorePlace, type StorePlace } from './harness/databases.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const base = 'http://127.0.0.1:8080'

interface CurlLine {
  readonly line: string
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

/** The `curl` lines of the README's blocks, with the variables of their block put in. */
function readCurlLines(): CurlLine[] {
  const blocks = [...readme.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, block]) => block as string)
  return blocks.flatMap((block) => {
    const variables = new Map(
      [...block.matchAll(/^(\w+)=(.+)$/gm)].map(([, name, value]) => [name, unquote(value ?? '')]),
    )
    const expand = (text: string) => text.replaceAll(/\$(\w+)/g, (_, name) => variables.get(name) ?? '')
    return block
      .split('\n')
      .filter((line) => line.startsWith('curl '))
      .map((line) => readCurlLine(line, expand))
  })
}

function unquote(text: string): string {
  return text.replace(/^(['"])(.*)\1$/, '$2')
}

function readCurlLine(line: string, expand: (text: string) => string): CurlLine {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) =>
    single !== undefined ? single : expand(double ?? bare ?? ''),
  )
  const headers: Record<string, string> = {}
  let body: string | undefined
  let method: string | undefined
  let url = ''
  for (let index = 1; index < words.length; index++) {
    const word = words[index] as string
    if (word === '-H') {
      const [name = '', value = ''] = (words[++index] ?? '').split(/: (.*)/s)
      headers[name] = value
    } else if (word === '-d') body = words[++index]
    else if (word === '-X') method = words[++index]
    else if (word.startsWith('http')) url = word
    else assert.equal(word, '-g', `this test does not know ${word} of curl`)
  }
  return { line, url, headers, body, method: method ?? (body === undefined ? 'GET' : 'POST') }
}

describe('the README', () => {
  let place: StorePlace
  let server: RunningServer
  before(async () => {
    place = await makeStorePlace('sqlite')
    server = await startCommand(['serve', '--port', '0', '--data', place.dataDir], { cwd: place.dataDir })
  })
  after(async () => {
    await server.stop('SIGTERM')
    await place.remove()
  })

  test('every curl line works when pasted after npm start, one after the other', async () => {
    const lines = readCurlLines()
    assert.ok(lines.length >= 20, 'the lines are found')
    for (const { line, url, method, headers, body } of lines) {
      assert.ok(url.startsWith(base), line)
      const answer = await fetch(server.url + url.slice(base.length), {
        method,
        headers,
        ...(body !== undefined && { body }),
      })
      assert.equal(answer.status, 200, `${line}\n${await answer.text()}`)
    }
  })

  test('every file that it points to is there', () => {
    const files = [...readme.matchAll(/\]\((?!http)([^)#]+)/g)].map(([, file]) => file as string)
    assert.ok(files.length > 5)
    for (const file of files) assert.ok(readFileOrFolder(file), file)
  })
})

function readFileOrFolder(path: string): boolean {
  try {
    readFileSync(new URL(`../../${path}`, import.meta.url))
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EISDIR'
  }
}
