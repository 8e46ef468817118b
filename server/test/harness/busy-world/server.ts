import { createApp } from '../../../src/app.ts'
import { systemRandom } from '../../../src/base/keys/random.ts'
import { silentLog } from '../../../src/base/log/log.ts'
import { day } from '../../../src/base/time/duration.ts'
import { type Environment, readConfig } from '../../../src/config.ts'
import type { Database } from '../../../src/db/database.ts'
import { applyWorld } from '../../../src/world/apply.ts'
import { readWorld } from '../../../src/world/read.ts'
import { type Engine, makeMigratedStore } from '../databases.ts'
import { startCallbacks } from './callbacks.ts'
import { BusyClock } from './clock.ts'
import { makeConnections } from './connections.ts'
import { Doors } from './doors.ts'
import { type BusySize, wholeSize } from './sizes.ts'
import { makeTraffic, pastDays } from './traffic.ts'
import { type busyApps, makeBusyWorld } from './world.ts'

export interface BusyServer {
  readonly url: string
  readonly doors: Doors
  readonly database: Database
  /** How many milliseconds it took to fill. */
  readonly filledIn: number
  /** From now on a subscriber takes every webhook. */
  repair(which: keyof typeof busyApps): void
  stop(): Promise<void>
}

export interface BusyOptions {
  readonly size?: BusySize
  readonly engine?: Engine
  /** Settings over those of the fixture. */
  readonly env?: Environment
}

/** The whole service on a free port of loopback, with its subscribers, ten days after it was started. Whoever starts it stops it. */
export async function startBusyServer({
  size = wholeSize,
  engine = 'sqlite',
  env = {},
}: BusyOptions = {}): Promise<BusyServer> {
  const begun = performance.now()
  const clock = new BusyClock(Date.now() - pastDays * day)
  const callbacks = await startCallbacks()
  const { place, database } = await makeMigratedStore(engine, clock)
  const world = JSON.stringify(makeBusyWorld(size, callbacks.urls, Date.now()))
  await applyWorld(database, clock, systemRandom, readWorld(world, 'busy world'))
  const usual = {
    ...{ PORT: '0', DATA_DIR: place.dataDir, RATE_LIMITS: 'off', LOG_LEVEL: 'silent' },
    ...{ WEBHOOK_TIMEOUT: '1s', PHONE_READ_DELAY: '0s', TEMPLATE_REVIEW: 'manual' },
  }
  const app = await createApp({
    ...{ config: readConfig({ ...usual, ...env }), database, clock, random: systemRandom, log: silentLog },
    startWorld: async () => readWorld(world, 'busy world'),
    timeSources: { monotonic: () => clock.now(), ofDatabase: () => clock.now() },
  })
  const doors = new Doors(await app.listen())
  const stop = async () => {
    await callbacks.stop()
    await app.close(1000)
    await database.close()
    await place.remove()
  }
  try {
    await makeConnections(doors, size)
    await makeTraffic({ doors, clock, size, settle: () => app.settle(), breakSubscriber: callbacks.break })
  } catch (error) {
    await stop()
    throw error
  }
  clock.followRealTime()
  return { url: doors.url, doors, database, filledIn: performance.now() - begun, repair: callbacks.repair, stop }
}
