import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createSwitchboard, type TestSwitchboard } from '@switchboard/testing'
import { writeTone } from '../../testing/test/tones.ts'
import { checkTypes, root, runFile } from './harness-pack.ts'

/** The blocks of a page, as one program: later ones use what earlier ones made. */
async function readProgram(page: string): Promise<string> {
  const text = await readFile(join(root, page), 'utf8')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('\n')
}

/** A proxy that passes every request on; `targets` are the addresses that it was asked for. */
function makeProxy() {
  const targets: string[] = []
  const server = createServer((given, response) => {
    const { method, url = '', headers } = given
    targets.push(url)
    const passed = request(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    given.pipe(passed.on('error', () => response.destroy()))
  })
  return { server: server.listen(0, '127.0.0.1'), targets }
}

describe('what the pages show', () => {
  const proxy = makeProxy()
  let sb: TestSwitchboard
  let folder: string
  before(async () => {
    sb = await createSwitchboard()
    folder = await mkdtemp(join(tmpdir(), 'switchboard-readme-'))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, 'question.wav'), writeTone(440, 1))
  })
  after(async () => {
    await sb.close()
    proxy.server.closeAllConnections()
    proxy.server.close()
    await rm(folder, { recursive: true, force: true })
  })

  const pages = [
    [
      'sdk/README.md',
      'server.close()\nvoid firstTen\n',
      [
        "Ada Shrub [ '1000000000000001' ]",
        'true 803',
        'Lucky Shrub Retail 200',
        'through the proxy 1000000000000001',
        'Hello',
        'text',
      ],
    ],
    ['testing/README.md', '', []],
    ['voice/README.md', '', ['business heard 440 Hz', 'user heard 523 Hz']],
    ['docs/testing.md', '', ['messages text', '4000000000000009', 'PARTNER_ADDED 2', 'heard 523 Hz']],
  ] as const
  for (const [index, [page, end, expected]] of pages.entries()) {
    test(`${page} runs`, async () => {
      const { port } = proxy.server.address() as AddressInfo
      const program = (await readProgram(page))
        .replaceAll('http://127.0.0.1:8080', sb.url)
        .replace('(3000)', '(0)')
        .replace(':3128', `:${port}`)
      const file = `program-${index}.ts`
      await writeFile(join(folder, file), `${program}\n${end}`)
      const { stdout } = await runFile(process.execPath, [file], { cwd: folder })
      for (const line of expected) assert.ok(stdout.includes(line), `${line} in ${stdout}`)
      if (program.includes('ProxyAgent')) assert.deepEqual(proxy.targets, [`${sb.url}/v23.0/1000000000000001`])
    })
  }

  test('the types of the examples in the pages fit', async () => {
    // Each is written anew, whether it ran or not.
    for (const [index, [page, end]] of pages.entries()) {
      await writeFile(join(folder, `program-${index}.ts`), `${await readProgram(page)}\n${end}`)
    }
    await checkTypes(folder, {
      ...{ lib: ['esnext'], types: ['node'], skipLibCheck: true, allowImportingTsExtensions: true },
      ...{ erasableSyntaxOnly: true, preserveSymlinks: false },
    })
  })
})
