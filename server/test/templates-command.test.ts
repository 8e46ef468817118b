import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RunningServer, runCommand, startCommand } from './harness/command.ts'
import { makeMigratedPlace, onOneDatabase, type StorePlace } from './harness/databases.ts'

const account = '1000000000000001'

onOneDatabase('templates list, approve, reject and pause', 'sqlite', (engine) => {
  let place: StorePlace
  let options: { env: Record<string, string>; cwd: string }
  let server: RunningServer
  before(async () => {
    place = await makeMigratedPlace(engine)
    const { dataDir, databaseUrl } = place
    const env = { DATA_DIR: dataDir, TEMPLATE_REVIEW: 'manual', ...(databaseUrl && { DATABASE_URL: databaseUrl }) }
    options = { env, cwd: dataDir }
    server = await startCommand(['serve', '--port', '0'], options)
  })
  after(async () => {
    await server.stop('SIGTERM')
    await place.remove()
  })

  const run = (...args: string[]) => runCommand(['templates', ...args], options)

  async function list(...args: string[]): Promise<Record<string, unknown>[]> {
    const { code, stdout, stderr } = await run('list', '--json', ...args)
    assert.deepEqual([code, stderr], [0, ''])
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }

  async function create(name: string): Promise<string> {
    const components = [{ type: 'BODY', text: 'We are open.' }]
    const response = await fetch(`${server.url}/v23.0/${account}/message_templates`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-token', 'content-type': 'application/json' },
      body: JSON.stringify({ name, language: 'en_US', category: 'UTILITY', components }),
    })
    assert.equal(response.status, 200)
    return ((await response.json()) as { id: string }).id
  }

  async function readStatus(id: string): Promise<unknown> {
    const headers = { authorization: 'Bearer demo-token' }
    const response = await fetch(`${server.url}/v23.0/${id}?fields=status,rejected_reason`, { headers })
    return response.json()
  }

  test('the server sees what a command decided, and a command what the server made', async () => {
    const id = await create('by_command')
    const [pending] = await list('--status', 'pending', '--account', account)
    assert.deepEqual([pending?.['id'], pending?.['name'], pending?.['status']], [id, 'by_command', 'PENDING'])
    const approved = await run('approve', id)
    assert.deepEqual([approved.code, approved.stdout], [0, `Template ${id} is APPROVED.\n`])
    assert.deepEqual(await readStatus(id), { status: 'APPROVED', rejected_reason: 'NONE' })
    assert.equal((await run('pause', id)).code, 0)
    assert.deepEqual(await readStatus(id), { status: 'PAUSED', rejected_reason: 'NONE' })
    assert.deepEqual(await list('--status', 'PENDING'), [])

    const other = await create('by_command_too')
    assert.equal((await run('reject', other, '--reason', 'scam')).code, 0)
    assert.deepEqual(await readStatus(other), { status: 'REJECTED', rejected_reason: 'SCAM' })
    const { stdout } = await run('list')
    assert.match(stdout, /^ID +STATUS +NAME/)
    assert.match(stdout, new RegExp(`^${other} +REJECTED`, 'm'))

    const deliveries = await runCommand(['deliveries', 'list', '--json'], options)
    assert.equal(deliveries.code, 0, deliveries.stderr)
  })

  for (const [what, args, message] of [
    ['an id that is nothing', ['approve', '1234567890123456'], /there is no template 1234567890123456/],
    [
      'a move that is not possible',
      ['reject', '5100000000000001', '--reason', 'SCAM'],
      /is APPROVED and cannot become REJECTED/,
    ],
    ['a reason that there is not', ['reject', '5100000000000001', '--reason', 'UGLY'], /--reason UGLY is not one of/],
    ['a status that there is not', ['list', '--status', 'GOOD'], /--status GOOD is not one of/],
    ['a limit that is none', ['list', '--limit', '0'], /--limit 0 is not a number/],
    ['no reason', ['reject', '5100000000000001'], /--reason/],
  ] as const) {
    test(`templates list, approve, reject and pause: fails with ${what}`, async () => {
      const { code, stderr } = await run(...args)
      assert.equal(code, 1)
      assert.match(stderr, message)
    })
  }
})
