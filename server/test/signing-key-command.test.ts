import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RunningServer, runCommand, startCommand } from './harness/command.ts'
import { makeStorePlace, onOneDatabase, type StorePlace } from './harness/databases.ts'
import { makeRsaPair } from './harness/rsa-keys.ts'

const path = '/v23.0/4000000000000001/msgapp_business_encryption'
const authorization = 'Bearer demo-token'
const { pem } = makeRsaPair()

async function upload({ url }: RunningServer): Promise<void> {
  const body = new URLSearchParams({ business_public_key: pem })
  const answer = await fetch(url + path, { method: 'POST', headers: { authorization }, body })
  assert.equal(answer.status, 200)
}

async function read({ url }: RunningServer): Promise<unknown> {
  return (await fetch(url + path, { headers: { authorization } })).json()
}

function optionsOf({ dataDir, databaseUrl }: StorePlace): { env: Record<string, string>; cwd: string } {
  return { env: { DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) }, cwd: dataDir }
}

onOneDatabase('signing-key', 'sqlite', (engine) => {
  let place: StorePlace
  let options: ReturnType<typeof optionsOf>
  before(async () => {
    place = await makeStorePlace(engine)
    options = optionsOf(place)
  })
  after(() => place.remove())

  /** The rows of `signing-key list`, without the headings. */
  async function list(): Promise<string[]> {
    const { code, stdout, stderr } = await runCommand(['signing-key', 'list'], options)
    assert.equal(code, 0, stderr)
    assert.ok(!stdout.includes('PRIVATE KEY'))
    return stdout.trimEnd().split('\n').slice(1)
  }

  test('the key is made at the first start and found at the next; a rotation beside a running server keeps what it signed good', async () => {
    assert.match((await runCommand(['signing-key', 'list'], options)).stderr, /there is no store/)
    const first = await startCommand(['serve', '--port', '0'], options)
    await upload(first)
    await first.stop('SIGTERM')
    const [made, ...others] = await list()
    const id = /^(k[0-9a-f]{16}) {2}\S+Z {2}never +1 +in use$/.exec(made ?? '')?.[1]
    assert.ok(id, made)
    assert.deepEqual(others, [])

    const second = await startCommand(['serve', '--port', '0'], options)
    const good = { data: [{ business_public_key: pem, business_public_key_signature_status: 'VALID' }] }
    assert.deepEqual(await read(second), good)
    const rotated = await runCommand(['signing-key', 'rotate'], options)
    assert.equal(rotated.code, 0, rotated.stderr)
    assert.match(rotated.stdout, /^Signing key k[0-9a-f]{16} is in use\. Keys signed anew: 1\.\n$/)
    assert.deepEqual(await read(second), good)
    await upload(second)
    assert.deepEqual(await read(second), good)
    await second.stop('SIGTERM')

    const [newest, old, ...more] = await list()
    assert.match(newest ?? '', /^k[0-9a-f]{16} .* 1 +in use$/)
    assert.match(old ?? '', new RegExp(`^${id}  \\S+Z  \\S+Z  0 +retired$`))
    assert.deepEqual(more, [])
  })

  test('rotate makes the first key of a store that has none', async () => {
    const empty = await makeStorePlace(engine)
    try {
      const rotated = await runCommand(['signing-key', 'rotate'], optionsOf(empty))
      assert.equal(rotated.code, 0, rotated.stderr)
      assert.match(rotated.stdout, /Keys signed anew: 0\.\n$/)
    } finally {
      await empty.remove()
    }
  })
})
