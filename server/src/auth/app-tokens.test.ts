import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onBothDatabases, useTestDatabase } from '../../test/harness/databases.ts'
import { dumpStore } from '../../test/harness/dump.ts'
import { isSomebodyWaiting } from '../../test/harness/lock-waits.ts'
import { until } from '../../test/harness/until.ts'
import { ids, partnerIds, strangerIds, testWorld } from '../../test/harness/world.ts'
import { systemRandom } from '../base/keys/random.ts'
import { ManualClock } from '../base/time/clock.ts'
import { sealSecret } from '../db/secrets/sealing.ts'
import type { Sealed } from '../db/tables.ts'
import { applyWorld } from '../world/apply.ts'
import { readWorld } from '../world/read.ts'
import { addMissingAppTokens, renewAppTokens, writeAppToken } from './app-tokens.ts'
import { findCaller } from './tokens.ts'

onBothDatabases('apps without their own tokens', (engine) => {
  const store = useTestDatabase(engine)
  const clock = new ManualClock(Date.parse('2026-06-01T12:00:00Z'))
  const deps = { clock, random: systemRandom }
  const apply = (world: object) =>
    applyWorld(store.database, clock, systemRandom, readWorld(JSON.stringify(world), 'w'))
  const isTaken = async (app_id: string, secret: string): Promise<boolean> => {
    const found = await findCaller(store.database.read, writeAppToken(app_id, secret))
    return found?.caller.app_id === app_id && (found.expires_time === null || found.expires_time > clock.now())
  }

  /** What a process of the version before would do, which knows of no such tokens. */
  const setSecret = (id: string, text: string, altered?: Sealed) =>
    store.database.transaction(async (tx) => {
      const sealed = altered ?? (await sealSecret(tx, 'apps.secret', id, text))
      await tx.query
        .updateTable('apps')
        .set({ secret: sealed, secret_time: clock.now() })
        .where('id', '=', id)
        .execute()
    })

  before(async () => {
    await apply(testWorld())
  })

  test('those of a store from before get them, and those whose secret was set meanwhile', async () => {
    const { database } = store
    await database.transaction((tx) =>
      tx.query.deleteFrom('tokens').where('is_of_app', '=', true).where('app_id', '=', ids.application).execute(),
    )
    clock.advance(1000)
    await setSecret(partnerIds.application, 'set-by-an-earlier-version')
    assert.equal(await isTaken(ids.application, 'shrub-app-secret'), false)
    await addMissingAppTokens(database, deps)
    assert.equal(await isTaken(ids.application, 'shrub-app-secret'), true)
    assert.equal(await isTaken(partnerIds.application, 'set-by-an-earlier-version'), true)
    assert.equal(await isTaken(partnerIds.application, 'partner-app-secret'), false)
    assert.equal(await isTaken(strangerIds.application, 'stranger-secret'), true)
    const filled = await dumpStore(database)
    clock.advance(1000)
    await addMissingAppTokens(database, deps)
    assert.deepEqual(await dumpStore(database), filled)
  })

  test('an empty secret gives none, and an altered one stops nothing', async () => {
    clock.advance(1000)
    await setSecret(ids.application, '')
    await setSecret(strangerIds.application, '', 'altered' as unknown as Sealed)
    await addMissingAppTokens(store.database, deps)
    assert.equal(await isTaken(ids.application, ''), false)
    assert.equal(await isTaken(ids.application, 'shrub-app-secret'), false)
    assert.equal(await isTaken(strangerIds.application, 'stranger-secret'), false)
  })

  test('a secret that is set while a file with the app is applied comes before or after it, and its token stays', async () => {
    const { database } = store
    await apply(testWorld())
    let applied: Promise<unknown> | undefined
    await database.transaction(async (tx) => {
      const sealed = await sealSecret(tx, 'apps.secret', ids.application, 'rotated')
      const change = { secret: sealed, secret_time: clock.now() }
      await tx.query.updateTable('apps').set(change).where('id', '=', ids.application).execute()
      await renewAppTokens(tx, deps, [ids.application])
      // It changes nothing of the app, so what waits is the look at its secrets alone.
      applied = apply({ apps: [{ id: ids.application, business_id: ids.business }] })
      if (engine === 'postgres') await until(() => isSomebodyWaiting(database), 'the file waits for the app')
    })
    await applied
    assert.equal(await isTaken(ids.application, 'rotated'), true)
    assert.equal(await isTaken(ids.application, 'shrub-app-secret'), false)
  })

  test('no world file gives a token of that form to somebody else', async () => {
    const world = testWorld()
    const token = { token: writeAppToken(strangerIds.application, 'stranger-secret'), app_id: ids.application }
    await assert.rejects(apply({ ...world, tokens: [token] }), /tokens\[0\]\.token: an app has a token of this form/)
  })
})
