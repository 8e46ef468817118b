import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Switchboard } from '@switchboard/client'
import { type SeenRequest, writeClientCall } from '../../console/src/pages/trace/client-call.ts'
import { describeMethods, type Method } from '../../scripts/generate/sdk/describe-methods.ts'
import { checkTypes, root, runFile } from '../../sdk/test/harness-pack.ts'
import { chooseVocabulary, type VocabularyName, vocabularyNames } from '../src/graph/vocabulary.ts'
import { buildOperations } from '../src/operations.ts'

type Values = Readonly<Record<string, unknown>>
type AnyMethod = (...args: unknown[]) => Promise<unknown>

interface Sent {
  readonly method: string
  readonly url: string
  readonly body: string | null
}

const baseUrl = 'http://127.0.0.1:8080'
const answer = () => Response.json({ data: [], paging: { cursors: {} } })

/** The requests of all examples at the business door, and what the console shows as the same call of the client. */
describe('the calls that the console writes', () => {
  const samples: { name: string; sent: Sent; text: string }[] = []
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-samples-'))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await mkdir(join(folder, 'path/to/the'), { recursive: true })
    await writeFile(join(folder, 'path/to/the/file'), 'x')
    for (const vocabulary of vocabularyNames) await collect(vocabulary)
    for (const [index, { text }] of samples.entries()) await writeFile(join(folder, `sample-${index}.ts`), `${text}\n`)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('the calls that the console writes are there for every operation', () => {
    const rows = buildOperations(chooseVocabulary('msgapp')).filter(({ door }) => door === 'business')
    for (const { name } of rows)
      assert.ok(
        samples.some((sample) => sample.name === `${name} (msgapp)`),
        name,
      )
  })

  test('the calls that the console writes know what is no text in a form and in a query', () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'messaging_product=whatsapp&to=16505551234&text=%7B%22body%22%3A%22Hi%22%7D'
    const seen = {
      operation: 'messages.send',
      target: '/v23.0/4000000000000001/messages?access_token=t',
      headers: form,
      body,
    }
    const text = writeClientCall(seen, baseUrl) ?? ''
    assert.match(text, /send\("4000000000000001", \{\n {2}"to": "16505551234",\n {2}"text": \{\n/)
    assert.match(text, /vocabulary: 'whatsapp' \}/)
    const listed = {
      operation: 'phone_numbers.list',
      target: '/v23.0/1/phone_numbers?limit=5',
      headers: {},
      body: null,
    }
    assert.match(writeClientCall(listed, baseUrl) ?? '', /list\("1", \{\n {2}"limit": 5,\n\}\)/)
  })

  test('the calls that the console writes have types that fit', async () => {
    await checkTypes(folder, {
      ...{ lib: ['esnext'], types: ['node'], skipLibCheck: true, allowImportingTsExtensions: true },
      ...{ erasableSyntaxOnly: true, preserveSymlinks: false, noEmit: true },
    })
  })

  test('the calls that the console writes send the same', async () => {
    await writeFile(
      join(folder, 'run.mjs'),
      `const sent = []
       console.log = () => undefined
       globalThis.fetch = async (url, { method, body }) => {
         sent.push({ method, url, body: typeof body === 'string' ? body : null })
         return Response.json({ data: [], paging: { cursors: {} } })
       }
       for (let index = 0; index < ${samples.length}; index++) await import(\`./sample-\${index}.ts\`)
       process.stdout.write(JSON.stringify(sent))`,
    )
    const { stdout } = await runFile(process.execPath, ['run.mjs'], { cwd: folder })
    const all = JSON.parse(stdout) as Sent[]
    assert.equal(all.length, samples.length)
    for (const [index, sent] of all.entries()) {
      const expected = samples[index]
      assert.deepEqual(parse(sent), expected && parse(expected.sent), `${expected?.name}\n${expected?.text}`)
    }
  })

  async function collect(vocabulary: VocabularyName): Promise<void> {
    for (const method of describeMethods(chooseVocabulary(vocabulary))) {
      const { row } = method
      if (row.door !== 'business') continue
      const { seen, sent } = await send(vocabulary, method, method.example)
      const text = writeClientCall(seen, baseUrl)
      assert.ok(text, row.name)
      samples.push({ name: `${row.name} (${vocabulary})`, sent, text })
    }
  }

  /** The example of a row, and what of it operators would see. */
  async function send(vocabulary: VocabularyName, method: Method, input: Values) {
    let sent: Sent | undefined
    let headers: Record<string, string> = {}
    const client = new Switchboard({
      ...{ baseUrl, vocabulary, token: 't' },
      fetch: async (url, init) => {
        headers = init.headers as Record<string, string>
        sent = { method: init.method ?? '', url, body: typeof init.body === 'string' ? init.body : null }
        return answer()
      },
    })
    const { messaging_product: _product, ...others } = input
    const { file } = method.row
    const params = Object.entries({ ...others, ...(file && { [file.name]: new Blob(['x']) }) })
    const args = [
      ...method.pathArguments.map(({ example }) => example),
      ...method.memberArguments.map(({ member }) => input[member]),
      ...(method.row.body === 'raw' ? [new Uint8Array(1)] : []),
      ...(method.parameters.length > 0
        ? [
            Object.fromEntries(
              params.filter(([name]) => method.parameters.some((parameter) => parameter.name === name)),
            ),
          ]
        : []),
    ]
    let group: unknown = client
    for (const name of method.resource.split('.')) group = (group as Record<string, unknown>)[name]
    await (group as Record<string, AnyMethod>)[method.name]?.(...args)
    assert.ok(sent, method.row.name)
    const seen: SeenRequest = {
      operation: method.row.name,
      target: sent.url.slice(baseUrl.length),
      headers,
      body: sent.body,
    }
    return { seen, sent }
  }
})

/** Members in any order. */
function parse({ method, url, body }: Sent): object {
  const { pathname, searchParams } = new URL(url)
  return { method, pathname, query: Object.fromEntries(searchParams), body: body === null ? null : JSON.parse(body) }
}
