import { setTimeout as wait } from 'node:timers/promises'
import type { Chance } from '../seeded-random.ts'
import type { DatabaseCluster } from './database-cluster.ts'
import { times } from './database-node.ts'
import type { Keeper } from './keeper.ts'
import { migrateMeanwhile } from './migration.ts'
import type { Service } from './service.ts'

/** What happens to whom. */
export interface Scene {
  readonly keeper: Keeper
  readonly database: DatabaseCluster
  readonly service: Service
  readonly chance: Chance
  /** How many disturbances there were before. */
  readonly number: number
}

type Disturb = (scene: Scene) => Promise<void>

/** Longer than a primary may be silent before it is replaced. */
const silenceMs = (times.ttl + 8) * 1000
/** How long something stays away that does not return by itself. */
const awayMs = 4000

/** By their names in reports. Each ends when its cause is gone, and not before another primary was there. */
export const disturbances: Readonly<Record<string, Disturb>> = {
  'PostgreSQL of the primary killed': ({ database }) => killPrimary(database),
  'node of the primary killed': async ({ database }) => {
    const { primary } = await database.findRoles()
    await primary.killAll()
    await database.whenPromotedInsteadOf(primary)
    await primary.start()
  },
  'node of the standby killed': async ({ database }) => {
    const { standby } = await database.findRoles()
    await standby.killAll()
    await wait(awayMs)
    await standby.start()
  },
  switchover: ({ database }) => database.switchOver(),
  'PostgreSQL of the primary frozen': async ({ database, chance }) => {
    const { primary } = await database.findRoles()
    await endLater(primary.freezePostgres(), chance)
  },
  'node of the primary frozen': async ({ database, chance }) => {
    const { primary } = await database.findRoles()
    await endLater(primary.freezeAll(), chance)
  },
  'primary cut off': async ({ database, chance }) => {
    const { primary, standby } = await database.findRoles()
    await endLater(primary.cutOff(standby), chance)
  },
  'primary cut off from all but clients': async ({ database, chance }) => {
    const { primary, standby } = await database.findRoles()
    await endLater(primary.cutOffFromPeers(standby), chance)
  },
  'killed without object storage': async ({ database, service }) => {
    await service.storage.vanish()
    await killPrimary(database)
    await wait(awayMs)
    await service.storage.appear()
  },
  'killed with a frozen worker': async ({ database, service, chance }) => {
    const thaw = chance.pick(service.workers).freeze()
    await wait(chance.below(1000))
    await killPrimary(database)
    await wait(awayMs)
    thaw()
  },
  'killed during a migration': ({ keeper, database, number }) =>
    migrateMeanwhile(keeper, database, number, () => killPrimary(database)),
}

async function killPrimary(database: DatabaseCluster): Promise<void> {
  const { primary } = await database.findRoles()
  primary.killPostgres()
  await database.whenPromotedInsteadOf(primary)
}

async function endLater(end: () => void, chance: Chance): Promise<void> {
  await wait(silenceMs + chance.below(4000))
  end()
}
