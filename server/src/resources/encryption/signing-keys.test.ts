import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { onOneDatabase, useTestDatabase } from '../../../test/harness/databases.ts'
import { isSomebodyWaiting } from '../../../test/harness/lock-waits.ts'
import { craftRsaKey, makeRsaPair, toSpki, writePem } from '../../../test/harness/rsa-keys.ts'
import { type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { numbers, tokens } from '../../../test/harness/world.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { BusinessPublicKeysTable } from '../../db/tables.ts'
import { rotateSigningKey } from './rotation.ts'
import { signFacts } from './signatures.ts'
import { listSigningKeysForOperators, takeSigningKey } from './signing-keys.ts'
import { replacePublicKey } from './store.ts'

const token = tokens.owner
const all = Object.values(numbers)
const pathOf = (number: string) => `/v23.0/${number}/msgapp_business_encryption`
const { pem } = makeRsaPair()

async function upload({ client }: TestServer, number: string, business_public_key = pem): Promise<void> {
  const answer = await client.post(pathOf(number), { token, json: { business_public_key } })
  assert.equal(answer.status, 200, answer.text)
}

async function readStatus({ client }: TestServer, number: string): Promise<string> {
  const answer = await client.callRow(client.row('encryption.read'), pathOf(number), { token })
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data[0].business_public_key_signature_status
}

const readStatuses = (server: TestServer) => Promise.all(all.map((number) => readStatus(server, number)))
const everywhere = (status: string) => all.map(() => status)

function findStored({ database }: TestServer, number: string): Promise<BusinessPublicKeysTable> {
  const stored = database.read.query.selectFrom('business_public_keys').selectAll()
  return stored.where('phone_number_id', '=', number).executeTakeFirstOrThrow()
}

async function alterStored(
  { database }: TestServer,
  number: string,
  changes: Partial<BusinessPublicKeysTable>,
): Promise<void> {
  await database.transaction(async (tx) => {
    const { numUpdatedRows } = await tx.query
      .updateTable('business_public_keys')
      .set(changes)
      .where('phone_number_id', '=', number)
      .executeTakeFirstOrThrow()
    assert.equal(numUpdatedRows, 1n)
  })
}

async function act({ client }: TestServer, number: string, edge: string, json: object): Promise<void> {
  const answer = await client.post(`/v23.0/${number}/${edge}`, { token, json })
  assert.equal(answer.status, 200, answer.text)
}

const deregister = (server: TestServer, number: string) => act(server, number, 'deregister', {})
const register = (server: TestServer, number: string) =>
  act(server, number, 'register', { messaging_product: 'msgapp', pin: '123456' })

async function registerAnew(server: TestServer, number: string): Promise<void> {
  await deregister(server, number)
  await register(server, number)
}

/**
 * Starts something and comes back when it waits for a lock, or is done because there was none to wait for. On SQLite what
 * is started from within a transaction only begins its own when that one has ended.
 */
async function startAndLetWait<T>({ database }: TestServer, start: () => Promise<T>): Promise<{ result: Promise<T> }> {
  let isDone = false
  const result = start().finally(() => {
    isDone = true
  })
  while (!database.isEmbedded && !isDone) {
    if (await isSomebodyWaiting(database)) break
    await yieldToOthers()
  }
  return { result }
}

/** Another letter in place of one in the middle. */
function spoil(text: string): string {
  const middle = Math.floor(text.length / 2)
  return text.slice(0, middle) + (text[middle] === 'A' ? 'B' : 'A') + text.slice(middle + 1)
}

onOneDatabase('the signature of a stored key', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const rotate = (batchSize?: number) => rotateSigningKey(server.database, server.clock, systemRandom, batchSize)
  /** Of the signing keys that signed anything: when it was retired, and how much it signed. */
  async function countSignatures() {
    const listed = await listSigningKeysForOperators(server.database.read)
    return listed
      .filter(({ signatures }) => signatures > 0)
      .map(({ retired_time, signatures }) => [retired_time, signatures])
  }

  test('MISMATCH after another registration, until a new upload', async () => {
    await upload(server, numbers.main)
    assert.equal(await readStatus(server, numbers.main), 'VALID')
    await registerAnew(server, numbers.main)
    assert.equal(await readStatus(server, numbers.main), 'MISMATCH')
    await upload(server, numbers.main)
    assert.equal(await readStatus(server, numbers.main), 'VALID')
  })

  test('VALID while the number is off the platform, as long as it is not registered anew', async () => {
    await upload(server, numbers.main)
    await deregister(server, numbers.main)
    assert.equal(await readStatus(server, numbers.main), 'VALID')
    await register(server, numbers.main)
    assert.equal(await readStatus(server, numbers.main), 'MISMATCH')
  })

  test('VALID when a registered number is registered again, which changes nothing', async () => {
    await upload(server, numbers.main)
    await register(server, numbers.main)
    assert.equal(await readStatus(server, numbers.main), 'VALID')
  })

  test('VALID for an upload that comes while a registration is not committed yet: it waits', async () => {
    const uploading = await server.database.transaction(async (tx) => {
      await tx.query
        .updateTable('phone_numbers')
        .set(({ eb }) => ({ registration_epoch: eb('registration_epoch', '+', 1) }))
        .where('id', '=', numbers.main)
        .execute()
      return startAndLetWait(server, () => upload(server, numbers.main))
    })
    await uploading.result
    assert.equal(await readStatus(server, numbers.main), 'VALID')
  })

  test('MISMATCH when the stored key is another', async () => {
    await upload(server, numbers.main)
    await alterStored(server, numbers.main, { business_public_key: makeRsaPair().pem })
    assert.equal(await readStatus(server, numbers.main), 'MISMATCH')
    await upload(server, numbers.main)
    assert.equal(await readStatus(server, numbers.main), 'VALID')
  })

  for (const [name, alter] of [
    ['one letter of the key is', ({ business_public_key }) => ({ business_public_key: spoil(business_public_key) })],
    ['one letter of the signature is', ({ signature }) => ({ signature: spoil(signature) })],
    ['the signature is cut short and', ({ signature }) => ({ signature: signature.slice(0, -4) })],
    ['the signature is empty and', () => ({ signature: '' })],
  ] as [string, (row: BusinessPublicKeysTable) => Partial<BusinessPublicKeysTable>][]) {
    test(`MISMATCH when ${name} changed in the store`, async () => {
      await upload(server, numbers.main)
      await alterStored(server, numbers.main, alter(await findStored(server, numbers.main)))
      assert.equal(await readStatus(server, numbers.main), 'MISMATCH')
    })
  }

  test('MISMATCH when the record is written over to the new registration', async () => {
    await upload(server, numbers.main)
    const { registration_epoch } = await findStored(server, numbers.main)
    await registerAnew(server, numbers.main)
    await alterStored(server, numbers.main, { registration_epoch: registration_epoch + 1 })
    assert.equal(await readStatus(server, numbers.main), 'MISMATCH')
  })

  test("MISMATCH when another number's signed key is put in its place", async () => {
    await upload(server, numbers.main)
    await upload(server, numbers.fresh, makeRsaPair().pem)
    const { phone_number_id: _, ...foreign } = await findStored(server, numbers.fresh)
    const { registration_epoch } = await findStored(server, numbers.main)
    await alterStored(server, numbers.main, { ...foreign, registration_epoch })
    assert.equal(await readStatus(server, numbers.main), 'MISMATCH')
    assert.equal(await readStatus(server, numbers.fresh), 'VALID')
  })

  test('MISMATCH when the record names another signing key', async () => {
    await upload(server, numbers.main)
    const { signing_key_id } = await findStored(server, numbers.main)
    await rotate()
    await alterStored(server, numbers.main, { signing_key_id })
    assert.equal(await readStatus(server, numbers.main), 'MISMATCH')
  })

  test('VALID after a rotation, by the new signing key', async () => {
    for (const number of all) await upload(server, number)
    const before = await findStored(server, numbers.main)
    const { signing_key_id, signed, left } = await rotate()
    assert.deepEqual([signed, left], [all.length, 0])
    const after = await findStored(server, numbers.main)
    assert.notEqual(signing_key_id, before.signing_key_id)
    assert.equal(after.signing_key_id, signing_key_id)
    assert.notEqual(after.signature, before.signature)
    assert.deepEqual(await readStatuses(server), everywhere('VALID'))
  })

  test('VALID for a signature that was made before the rotation and not anew', async () => {
    await upload(server, numbers.main)
    const before = await findStored(server, numbers.main)
    await rotate()
    await alterStored(server, numbers.main, before)
    assert.equal(await readStatus(server, numbers.main), 'VALID')
  })

  for (const batchSize of [1, 2, all.length, all.length + 1]) {
    test(`a rotation in batches of ${batchSize} signs each of ${all.length} keys once`, async () => {
      for (const number of all) await upload(server, number)
      assert.equal((await rotate(batchSize)).signed, all.length)
      assert.deepEqual(await countSignatures(), [[null, all.length]])
    })
  }

  test('MISMATCH stays MISMATCH through a rotation', async () => {
    for (const number of all) await upload(server, number)
    await alterStored(server, numbers.main, { business_public_key: makeRsaPair().pem })
    await registerAnew(server, numbers.shared)
    const { signed, left } = await rotate()
    assert.deepEqual([signed, left], [all.length - 1, 1])
    assert.equal(await readStatus(server, numbers.main), 'MISMATCH')
    assert.equal(await readStatus(server, numbers.shared), 'MISMATCH')
    assert.equal(await readStatus(server, numbers.fresh), 'VALID')
  })

  test('a retired signing key has no private half any more', async () => {
    await rotate()
    const keys = await server.database.read.query.selectFrom('signing_keys').selectAll().execute()
    assert.ok(keys.length > 1)
    for (const { private_key, retired_time } of keys) assert.equal(private_key === null, retired_time !== null)
  })

  test('an upload that is not committed yet when a rotation comes is waited for and signed anew', async () => {
    for (const number of all) await upload(server, number)
    const rotation = await server.database.transaction(async (tx) => {
      const { id, private_key } = await takeSigningKey(tx, server.clock, systemRandom)
      const started = await startAndLetWait(server, () => rotate())
      const stored = await findStored(server, numbers.main)
      await replacePublicKey(tx, { ...stored, signing_key_id: id, signature: signFacts(private_key, stored) })
      return started
    })
    assert.equal((await rotation.result).signed, all.length)
    assert.deepEqual(await countSignatures(), [[null, all.length]])
    assert.deepEqual(await readStatuses(server), everywhere('VALID'))
  })

  test('VALID for whatever is uploaded while keys are rotated', async () => {
    const keys = Array.from({ length: 6 }, (_, index) =>
      writePem('PUBLIC KEY', toSpki(craftRsaKey({ bits: 2100 + index }))),
    )
    const uploads = keys.flatMap((key) => all.map((number) => upload(server, number, key)))
    await Promise.all([rotate(1), rotate(2), rotate(1), ...uploads])
    assert.deepEqual(await readStatuses(server), everywhere('VALID'))
    assert.deepEqual(await countSignatures(), [[null, all.length]])
  })
})

onOneDatabase('the signing key of the service', 'sqlite', (engine) => {
  const store = useTestDatabase(engine)

  test('the signing key of the service is one, though many processes ask for the first at the same moment', async () => {
    const taken = await Promise.all(
      Array.from({ length: 8 }, () =>
        store.database.transaction((tx) => takeSigningKey(tx, systemClock, systemRandom)),
      ),
    )
    assert.equal(new Set(taken.map(({ id }) => id)).size, 1)
    assert.equal((await listSigningKeysForOperators(store.database.read)).length, 1)
  })
})
