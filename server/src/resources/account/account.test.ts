import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, tokens } from '../../../test/harness/world.ts'
import { argumentWrong, fieldUnknown } from '../../graph/errors.ts'

onOneDatabase('business account', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const path = `/v23.0/${ids.account}`
  const token = tokens.owner
  const read = (fields?: string) =>
    server.client.callRow(server.client.row('account.read'), path, {
      token,
      query: fields === undefined ? {} : { fields },
    })
  const update = (json: object) => server.client.callRow(server.client.row('account.update'), path, { token, json })

  test('200 with id and name by default', async () => {
    assert.deepEqual((await read()).body, { id: ids.account, name: 'Lucky Shrub Retail' })
  })

  test('200 with every field that there is', async () => {
    const fields =
      'id,name,timezone_id,message_template_namespace,account_review_status,business_verification_status,country,ownership_type,primary_business_location'
    assert.deepEqual((await read(fields)).body, {
      id: ids.account,
      name: 'Lucky Shrub Retail',
      timezone_id: '1',
      message_template_namespace: 'lucky_shrub_templates',
      account_review_status: 'APPROVED',
      business_verification_status: 'VERIFIED',
      country: 'US',
      ownership_type: 'SELF_OWNED',
      primary_business_location: 'US',
    })
  })

  test('200 with the fields that are asked for alone, blanks and repeats forgiven', async () => {
    assert.deepEqual((await read(' country , country,')).body, { country: 'US' })
  })

  test('200 with an empty `fields`: the defaults', async () => {
    assert.deepEqual((await read('')).body, { id: ids.account, name: 'Lucky Shrub Retail' })
  })

  test('business account: 400 for an unknown field, naming it and the available ones', async () => {
    const answer = await read('name,owner')
    assertError(
      answer,
      fieldUnknown({
        field: '"owner"',
        available:
          'id, name, timezone_id, message_template_namespace, account_review_status, business_verification_status, country, ownership_type, primary_business_location',
      }),
    )
  })

  test('200 for a change of name and time zone, which the next read shows', async () => {
    const changed = `/v23.0/${accounts.onBehalf}`
    const answer = await server.client.post(changed, { token, json: { name: '  New Name ', timezone_id: '42' } })
    assert.deepEqual([answer.status, answer.body], [200, { success: true }])
    const now = await server.client.get(changed, { token, query: { fields: 'name,timezone_id' } })
    assert.deepEqual(now.body, { name: 'New Name', timezone_id: '42' })
  })

  for (const name of ['Café Lucky', '幸運な低木', 'Lucky 🌱']) {
    test(`business account: 200 for the name ${name}, which comes back as it was sent`, async () => {
      const changed = `/v23.0/${accounts.onBehalf}`
      assert.equal((await server.client.post(changed, { token, json: { name } })).status, 200)
      assert.equal((await server.client.get(changed, { token })).body.name, name)
    })
  }

  for (const [length, status] of [
    [0, 400],
    [1, 200],
    [100, 200],
    [101, 400],
  ] as const) {
    test(`${status} for a name of ${length} characters, blanks around it not counted`, async () => {
      const changed = `/v23.0/${accounts.smallBusiness}`
      const answer = await server.client.post(changed, { token, json: { name: `  ${'🌱'.repeat(length)}  ` } })
      assert.equal(answer.status, status, answer.text)
    })
  }

  test('business account: 200 for a partner that manages it, and the owner sees the change', async () => {
    const shared = `/v23.0/${accounts.shared}`
    assert.equal(
      (await server.client.post(shared, { token: tokens.partner, json: { name: 'By partner' } })).status,
      200,
    )
    assert.equal((await server.client.get(shared, { token })).body.name, 'By partner')
  })

  test('200 for an empty object: nothing changes', async () => {
    assert.deepEqual((await update({})).body, { success: true })
    assert.equal((await read()).body.name, 'Lucky Shrub Retail')
  })

  test('business account: 400 changes nothing, also where another member was right', async () => {
    const answer = await update({ name: 'Half', timezone_id: 5 })
    assertError(answer, argumentWrong('timezone_id', { expected: 'a string of 1 to 64 characters' }))
    assert.equal((await read()).body.name, 'Lucky Shrub Retail')
  })
})
