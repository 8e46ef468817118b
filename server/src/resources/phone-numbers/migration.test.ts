import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeStorePlace, onBothDatabases, openPlace } from '../../../test/harness/databases.ts'
import { systemClock } from '../../base/time/clock.ts'
import { migrate } from '../../db/schema/migrate.ts'
import { readMigrations } from '../../db/schema/migrations.ts'

onBothDatabases('numbers of a store from before their life was kept', (engine) => {
  test('numbers of a store from before their life was kept get what they have had so far: one registration, or none', async (t) => {
    const place = await makeStorePlace(engine)
    const database = await openPlace(place)
    t.after(async () => {
      await database.close()
      await place.remove()
    })
    await migrate(database, systemClock, { migrations: readMigrations().filter(({ name }) => name < '007') })
    await database.transaction(async ({ query }) => {
      const nodes = ['2000000000000001', '1000000000000001', '4000000000000001', '4100000000000001', '4000000000000002']
      for (const id of [...nodes, '4100000000000002']) {
        await sql`INSERT INTO nodes (id, kind, business_id) VALUES (${id}, 'any', '2000000000000001')`.execute(query)
      }
      await sql`INSERT INTO businesses VALUES ('2000000000000001', 'Lucky Shrub', 1, 1)`.execute(query)
      await sql`INSERT INTO accounts (id, business_id, name, small_business, created_time)
        VALUES ('1000000000000001', '2000000000000001', 'Retail', ${false}, 1)`.execute(query)
      for (const [suffix, registered] of [
        ['1', true],
        ['2', false],
      ] as const) {
        await sql`INSERT INTO phone_numbers (id, account_number_id, account_id, phone_number, display_phone_number,
            country_dial_code, verified_name, link_status, connection_status, registered, quality_rating,
            code_verification_status, name_status, unified_cert_status, account_mode, host_platform,
            messaging_limit_tier, is_official_business_account, creation_time, last_onboarded_time)
          VALUES (${`400000000000000${suffix}`}, ${`410000000000000${suffix}`}, '1000000000000001',
            ${`1631555100${suffix}`}, 'shown', '1', 'Shrub', 'PENDING', 'PENDING', ${registered}, 'NA', 'VERIFIED',
            'APPROVED', 'APPROVED', 'LIVE', 'CLOUD_API', 'TIER_1K', ${false}, 1, 2)`.execute(query)
      }
    })

    await migrate(database, systemClock)
    const rows = await database.read.query
      .selectFrom('phone_numbers')
      .select([
        'id',
        'registration_epoch',
        'new_display_name',
        'search_visibility',
        'show_security_notifications',
        'notify_user_change_number',
      ])
      .orderBy('id')
      .execute()
    const same = {
      new_display_name: null,
      search_visibility: 'VISIBLE',
      show_security_notifications: false,
      notify_user_change_number: false,
    }
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [
        { id: '4000000000000001', registration_epoch: 1, ...same },
        { id: '4000000000000002', registration_epoch: 0, ...same },
      ],
    )
  })
})
