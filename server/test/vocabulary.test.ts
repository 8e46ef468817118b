import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import WhatsApp from '@great-detail/whatsapp'
import { missingPermission } from '../src/graph/errors.ts'
import { onBothDatabases } from './harness/databases.ts'
import { assertError } from './harness/errors.ts'
import { png } from './harness/media-files.ts'
import { useTestServer } from './harness/server.ts'
import { ids, numbers, tokens } from './harness/world.ts'

/** A client library that already exists, unmodified, against the second vocabulary. It grows with the chapters. */
onBothDatabases('@great-detail/whatsapp against VOCABULARY=whatsapp', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })
  let sdk: WhatsApp
  before(() => {
    sdk = new WhatsApp({
      baseUrl: server.url,
      request: { headers: { Authorization: `Bearer ${tokens.owner}` }, retry: 0 },
    })
  })

  test('reads a business account', async () => {
    const account = await sdk.whatsappBusinessAccount.get(ids.account, { fields: ['id', 'name', 'timezone_id'] }).json()
    assert.deepEqual(account, { id: ids.account, name: 'Lucky Shrub Retail', timezone_id: '1' })
  })

  test('reads a phone number', async () => {
    const number = await sdk.phoneNumbers.getPhoneNumber({ phoneNumberID: ids.phone_number }).json()
    assert.deepEqual(number, {
      id: ids.phone_number,
      display_phone_number: '+1 631-555-1001',
      verified_name: 'Lucky Shrub',
      quality_rating: 'GREEN',
    })
  })

  test('lists phone numbers', async () => {
    const list = await sdk.phoneNumbers.listPhoneNumbers({ businessAccountID: ids.account }).json()
    assert.deepEqual(list.data.map(({ id }) => id).sort(), [numbers.main, numbers.fresh].sort())
  })

  test('asks for another name of a phone number', async () => {
    const phoneNumberID = numbers.shared
    const changed = await sdk.phoneNumbers
      .updatePhoneNumber({ phoneNumberID, new_display_name: 'Shrub Wholesale' })
      .json()
    assert.deepEqual(changed, { success: true })
    const number = await sdk.phoneNumbers.getPhoneNumber({ phoneNumberID, fields: ['name_status'] }).json()
    assert.equal((number as unknown as Record<string, unknown>)['name_status'], 'PENDING_REVIEW')
  })

  test('changes and reads a business profile', async () => {
    const phoneNumberID = numbers.fresh
    const changed = await sdk.businessProfile
      .updateBusinessProfile({ phoneNumberID, about: 'Plants', websites: ['https://shrub.example'] })
      .json()
    assert.deepEqual(changed, { success: true })
    const profile = await sdk.businessProfile
      .getBusinessProfile({ phoneNumberID, fields: ['about', 'websites'] })
      .json()
    assert.deepEqual(profile.data, [{ business_profile: { about: 'Plants', websites: ['https://shrub.example'] } }])
  })

  test('uploads, finds, downloads and deletes a medium', async () => {
    const phoneNumberID = numbers.main
    const file = new Blob([new Uint8Array(png)])
    const { id: mediaID } = await sdk.media
      .upload({ phoneNumberID, file, filename: 'picture.png', mimeType: 'image/png' })
      .json()
    const medium = await sdk.media.getURL({ mediaID, phoneNumberID }).json()
    assert.equal(medium.messaging_product, 'whatsapp')
    assert.equal(medium.mime_type, 'image/png')
    const headers = { Authorization: `Bearer ${tokens.owner}` }
    const bytes = await sdk.media.download({ mediaURL: medium.url, request: { headers } }).bytes()
    assert.ok(png.equals(bytes))
    assert.deepEqual(await sdk.media.delete({ mediaID, phoneNumberID }).json(), { success: true })
    assert.equal((await sdk.media.getURL({ mediaID, request: { throwHttpErrors: false } })).status, 404)
  })

  test('is told of a mistake in the words of its vocabulary', async () => {
    const response = await sdk.phoneNumbers.getPhoneNumber({
      phoneNumberID: ids.phone_number,
      request: { headers: { Authorization: `Bearer ${tokens.unscoped}` }, throwHttpErrors: false },
    })
    const { error } = (await response.json()) as unknown as { error: Record<string, string> }
    const permissions = '"whatsapp_business_management" or "whatsapp_business_messaging"'
    assertError({ status: response.status, body: { error } }, missingPermission({ permissions }))
    assert.equal(error['fbtrace_id'], response.headers.get('x-fbtrace-id'))
    assert.equal(error['svctrace_id'], undefined)
  })
})

describe('the habits of the second vocabulary', () => {
  const whatsapp = useTestServer({ engine: 'sqlite', env: { VOCABULARY: 'whatsapp' } })
  const msgapp = useTestServer({ engine: 'sqlite' })

  test('200 without a version, served as the newest; 400 in the first vocabulary', async () => {
    assert.equal((await whatsapp.client.get(`/${ids.account}`, { token: tokens.owner })).status, 200)
    assert.equal((await whatsapp.client.get(`/${ids.account}/phone_numbers`, { token: tokens.owner })).status, 200)
    assert.equal((await msgapp.client.get(`/${ids.account}/phone_numbers`, { token: tokens.owner })).status, 400)
  })

  test('200 with the token as access_token, kept in links; 401 in the first vocabulary', async () => {
    const query = { access_token: tokens.owner, limit: '1' }
    const answer = await whatsapp.client.get(`/v23.0/${ids.account}/phone_numbers`, { query })
    assert.equal(answer.status, 200)
    assert.equal(new URL(answer.body.paging.next).searchParams.get('access_token'), tokens.owner)
    assert.equal((await msgapp.client.get(`/v23.0/${ids.account}/phone_numbers`, { query })).status, 401)
  })

  test('a token that came in the header never gets into links', async () => {
    const query = { access_token: 'something-else', limit: '1' }
    for (const { client } of [whatsapp, msgapp]) {
      const answer = await client.get(`/v23.0/${ids.account}/phone_numbers`, { token: tokens.owner, query })
      assert.equal(new URL(answer.body.paging.next).searchParams.get('access_token'), null)
    }
  })

  test('doors are doors in both', async () => {
    for (const { client } of [whatsapp, msgapp]) assert.equal((await client.get('/healthz')).status, 200)
  })
})
