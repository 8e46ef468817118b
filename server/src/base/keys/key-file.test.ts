import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BadKeyFile, makeKeyFile, readKeyFile, replaceKeyFile } from './key-file.ts'
import { systemRandom } from './random.ts'
import { makeSecretKey, writeSecretKey } from './secret-key.ts'

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-keys-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const idsOf = (path: string) => readKeyFile(path)?.keys.map(({ id }) => id)

test('a key file is made once, for its owner alone, in a folder for its owner alone', (t) => {
  const folder = join(makeFolder(t), 'inner')
  const path = join(folder, 'secrets.key')
  assert.equal(readKeyFile(path), undefined)
  const [first, second] = [makeSecretKey(systemRandom), makeSecretKey(systemRandom)]
  assert.deepEqual(
    makeKeyFile(path, systemRandom, first).map(({ id }) => id),
    [first.id],
  )
  assert.deepEqual(
    makeKeyFile(path, systemRandom, second).map(({ id }) => id),
    [first.id],
    'the first one stays',
  )
  assert.deepEqual([modeOf(folder), modeOf(path)], ['700', '600'])
  assert.deepEqual(readdirSync(folder), ['secrets.key'], 'nothing else is left')
})

test('other keys take the place of those in it', (t) => {
  const folder = makeFolder(t)
  const path = join(folder, 'secrets.key')
  const [first, second] = [makeSecretKey(systemRandom), makeSecretKey(systemRandom)]
  makeKeyFile(path, systemRandom, first)
  replaceKeyFile(path, systemRandom, [second, first])
  assert.deepEqual(idsOf(path), [second.id, first.id])
  assert.equal(modeOf(path), '600')
  assert.deepEqual(readdirSync(folder), ['secrets.key'])
})

test('whoever writes it, it belongs to whom it belonged before, and at first to whom its folder does', (t) => {
  const folder = makeFolder(t)
  const path = join(folder, 'secrets.key')
  // Only root can give a file away; everybody else owns what they write.
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, 12_345, 12_345)
  makeKeyFile(path, systemRandom, makeSecretKey(systemRandom))
  assert.equal(statSync(path).uid, statSync(folder).uid)
  if (isRoot) chownSync(path, 23_456, 23_456)
  const { uid } = statSync(path)
  replaceKeyFile(path, systemRandom, [makeSecretKey(systemRandom)])
  assert.equal(statSync(path).uid, uid)
})

test('one that others could read is made the owner’s alone, and says so', (t) => {
  const path = join(makeFolder(t), 'secrets.key')
  makeKeyFile(path, systemRandom, makeSecretKey(systemRandom))
  for (const mode of [0o644, 0o640, 0o604]) {
    chmodSync(path, mode)
    const { looseMode, isTightened } = readKeyFile(path) ?? {}
    assert.deepEqual([looseMode, isTightened], [mode.toString(8).padStart(4, '0'), true])
    assert.equal(modeOf(path), '600')
    assert.equal(readKeyFile(path)?.looseMode, undefined)
  }
})

test('a file that holds something else is refused without being repeated', (t) => {
  const path = join(makeFolder(t), 'secrets.key')
  const key = writeSecretKey(makeSecretKey(systemRandom))
  writeFileSync(path, `${key}x\n`, { mode: 0o600 })
  assert.throws(
    () => readKeyFile(path),
    (error: Error) =>
      error instanceof BadKeyFile && error.message.includes(path) && !error.message.includes(key.slice(0, 8)),
  )
  assert.equal(readFileSync(path, 'utf8'), `${key}x\n`)
})

test('one that cannot be made is told with what to do', () => {
  assert.throws(
    () => makeKeyFile('/dev/null/secrets.key', systemRandom, makeSecretKey(systemRandom)),
    /cannot be written .*set SECRETS_KEY/,
  )
})
