import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import WhatsApp from '@great-detail/whatsapp'
import { missingPermission } from '../src/graph/errors.ts'
import { onOneDatabase } from './harness/databases.ts'
import { assertError } from './harness/errors.ts'
import { png } from './harness/media-files.ts'
import { useTestServer } from './harness/server.ts'
import { ids, numbers, tokens } from './harness/world.ts'

/** A client library that already exists, unmodified, against the second vocabulary. It grows with the chapters. */
onOneDatabase('@great-detail/whatsapp against VOCABULARY=whatsapp', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })
  let sdk: WhatsApp
  before(() => {
    sdk = new WhatsApp({
      baseUrl: server.url,
      request: { headers: { Authorization: `Bearer ${tokens.owner}` }, retry: 0, fetch: server.client.fetch },
    })
  })

  test('@great-detail/whatsapp against VOCABULARY=whatsapp reads a business account', async () => {
    const account = await sdk.whatsappBusinessAccount.get(ids.account, { fields: ['id', 'name', 'timezone_id'] }).json()
    assert.deepEqual(account, { id: ids.account, name: 'Lucky Shrub Retail', timezone_id: '1' })
  })

  test('@great-detail/whatsapp against VOCABULARY=whatsapp reads a phone number', async () => {
    const number = await sdk.phoneNumbers.getPhoneNumber({ phoneNumberID: ids.phone_number }).json()
    assert.deepEqual(number, {
      id: ids.phone_number,
      display_phone_number: '+1 631-555-1001',
      verified_name: 'Lucky Shrub',
      quality_rating: 'GREEN',
    })
  })

  test('@great-detail/whatsapp against VOCABULARY=whatsapp reads every field of a phone number that its types name and the store knows', async () => {
    const number = await sdk.phoneNumbers
      .getPhoneNumber({
        phoneNumberID: numbers.main,
        fields: [
          'status',
          'account_mode',
          'platform_type',
          'messaging_limit_tier',
          'code_verification_status',
          'name_status',
          'is_official_business_account',
          'is_on_biz_app',
          'is_pin_enabled',
          'is_preverified_number',
          'last_onboarded_time',
          'quality_score',
          'throughput',
          'health_status',
          'webhook_configuration',
        ],
      })
      .json()
    const { last_onboarded_time, webhook_configuration, ...rest } = number
    assert.ok(last_onboarded_time === undefined || /T.*Z$/.test(last_onboarded_time))
    assert.deepEqual(Object.keys(webhook_configuration ?? {}), [])
    assert.deepEqual(rest, {
      id: numbers.main,
      display_phone_number: '+1 631-555-1001',
      verified_name: 'Lucky Shrub',
      quality_rating: 'GREEN',
      status: 'CONNECTED',
      account_mode: 'LIVE',
      platform_type: 'CLOUD_API',
      messaging_limit_tier: 'TIER_1K',
      code_verification_status: 'VERIFIED',
      name_status: 'APPROVED',
      is_official_business_account: false,
      is_on_biz_app: false,
      is_pin_enabled: false,
      is_preverified_number: false,
      quality_score: { score: 'GREEN' },
      throughput: { level: 'STANDARD' },
      health_status: {
        can_send_message: 'AVAILABLE',
        entities: [{ entity_type: 'PHONE_NUMBER', id: numbers.main, can_send_message: 'AVAILABLE' }],
      },
    })
  })

  test('a number that is not registered can send nothing, and one with a PIN and a callback says so', async () => {
    const fields = 'health_status,is_pin_enabled,webhook_configuration,new_name_status,certificate,search_visibility'
    const read = async (id: string) =>
      (await server.client.get(`/v23.0/${id}`, { token: tokens.owner, query: { fields } })).body
    assert.equal((await read(numbers.fresh)).health_status.can_send_message, 'BLOCKED')
    const set = await server.client.post(`/v23.0/${numbers.main}`, { token: tokens.owner, json: { pin: '123456' } })
    assert.equal(set.status, 200, set.text)
    await server.database.transaction(async (tx) => {
      const callback = { override_callback_uri: 'https://shrub.example/number', webhook_url: null }
      const app = { phone_number_id: numbers.main, app_id: ids.application }
      await tx.query
        .insertInto('phone_number_callbacks')
        .values({ ...app, ...callback })
        .execute()
    })
    const { is_pin_enabled, webhook_configuration, new_name_status, search_visibility } = await read(numbers.main)
    assert.deepEqual([is_pin_enabled, new_name_status, search_visibility], [true, 'NONE', 'VISIBLE'])
    assert.deepEqual(webhook_configuration, { phone_number: 'https://shrub.example/number' })
    const temporary_callback_uri = 'https://shrub.example/agent'
    await server.database.transaction(async (tx) => {
      await tx.query.updateTable('phone_number_callbacks').set({ temporary_callback_uri }).execute()
    })
    assert.deepEqual((await read(numbers.main)).webhook_configuration, { phone_number: temporary_callback_uri })
  })

  test('@great-detail/whatsapp against VOCABULARY=whatsapp reads every field of a business account that its types name and the store knows', async () => {
    const account = await sdk.whatsappBusinessAccount
      .get(ids.account, {
        fields: [
          'id',
          'currency',
          'owner_business_info',
          'on_behalf_of_business_info',
          'primary_funding_id',
          'purchase_order_number',
          'is_enabled_for_insights',
          'marketing_messages_lite_api_status',
          'status',
          'health_status',
        ],
      })
      .json()
    assert.deepEqual(account, {
      id: ids.account,
      currency: 'XXX',
      owner_business_info: { id: ids.business, name: 'Lucky Shrub' },
      is_enabled_for_insights: false,
      marketing_messages_lite_api_status: 'INELIGIBLE',
      status: 'ACTIVE',
      health_status: {
        can_send_message: 'AVAILABLE',
        entities: [{ entity_type: 'WABA', id: ids.account, can_send_message: 'AVAILABLE' }],
      },
    })
  })

  test('@great-detail/whatsapp against VOCABULARY=whatsapp lists phone numbers with the fields of its types', async () => {
    const fields = 'id,platform_type,throughput,name_status,certificate,new_name_status,quality_score'
    const query = { fields, sort: 'creation_time.asc' }
    const { body } = await server.client.get(`/v23.0/${ids.account}/phone_numbers`, { token: tokens.owner, query })
    const main = body.data.find(({ id }: { id: string }) => id === numbers.main)
    assert.deepEqual(main, {
      id: numbers.main,
      platform_type: 'CLOUD_API',
      throughput: { level: 'STANDARD' },
      name_status: 'APPROVED',
      new_name_status: 'NONE',
      quality_score: { score: 'GREEN' },
    })
  })

  test('@great-detail/whatsapp against VOCABULARY=whatsapp lists phone numbers', async () => {
    const list = await sdk.phoneNumbers.listPhoneNumbers({ businessAccountID: ids.account }).json()
    assert.deepEqual(list.data.map(({ id }) => id).sort(), [numbers.main, numbers.fresh].sort())
  })

  test('@great-detail/whatsapp against VOCABULARY=whatsapp asks for another name of a phone number', async () => {
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
    const shown = { about: 'Plants', websites: ['https://shrub.example'] }
    assert.deepEqual(profile.data, [{ business_profile: shown, ...shown }])
    assert.equal(profile.data[0].about, 'Plants')
    const { data } = await sdk.businessProfile.getBusinessProfile({ phoneNumberID, fields: ['id'] }).json()
    assert.deepEqual(data, [{ business_profile: { id: phoneNumberID }, id: phoneNumberID }])
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
    assert.equal((await sdk.media.getURL({ mediaID, request: { throwHttpErrors: false } })).status, 400)
  })

  test('@great-detail/whatsapp against VOCABULARY=whatsapp is told of a mistake in the words of its vocabulary', async () => {
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

  test('fields of libraries that the specification does not name are 400 in the first vocabulary', async () => {
    for (const [id, field] of [
      [ids.phone_number, 'platform_type'],
      [ids.phone_number, 'throughput'],
      [ids.account, 'currency'],
    ] as const) {
      const query = { fields: field }
      assert.equal((await whatsapp.client.get(`/v23.0/${id}`, { token: tokens.owner, query })).status, 200)
      const refused = await msgapp.client.get(`/v23.0/${id}`, { token: tokens.owner, query })
      assert.equal(refused.status, 400)
      assert.match(refused.body.error.message, /is not a field; available: /)
    }
    const profile = await msgapp.client.get(`/v23.0/${ids.phone_number}/msgapp_business_profile`, {
      token: tokens.owner,
    })
    assert.deepEqual(Object.keys(profile.body.data[0]), ['business_profile'])
  })

  test('the OpenAPI document names them', async () => {
    const text = JSON.stringify((await whatsapp.client.get('/openapi.json')).body)
    for (const name of ['platform_type', 'throughput', 'owner_business_info', 'currency'])
      assert.ok(text.includes(`"${name}"`))
    assert.ok(!JSON.stringify((await msgapp.client.get('/openapi.json')).body).includes('"platform_type"'))
  })

  test('doors are doors in both', async () => {
    for (const { client } of [whatsapp, msgapp]) assert.equal((await client.get('/healthz')).status, 200)
  })
})
