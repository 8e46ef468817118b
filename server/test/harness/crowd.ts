import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type RunningServer, startCommand } from './command.ts'
import { type Engine, makeMigratedPlace, type StorePlace } from './databases.ts'
import { envelopeOf, messagesChange, textMessage } from './webhooks.ts'
import { ids, testWorld, tokens } from './world.ts'

/** The test world with more apps of the owner, each linked to the owner's account and subscribed to messages at its own callback. */
function crowdedWorld(callbacks: readonly string[]): object {
  const world = testWorld()
  const apps = callbacks.map((callback_url, index) => ({
    id: String(3_000_000_001_000_000 + index),
    business_id: ids.business,
    name: `App ${index}`,
    secret: `secret of app ${index}`,
    webhook: { callback_url, verify_token: 'vt', fields: ['messages'] },
  }))
  const accounts = world.accounts.map((account) =>
    account.id === ids.account ? { ...account, subscribed_apps: apps.map(({ id }) => id) } : account,
  )
  return { ...world, apps: [...world.apps, ...apps], accounts }
}

export interface CrowdOptions {
  readonly engine: Engine
  readonly callbacks: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A real server for the length of a test, with as many subscribers to one account as there are callbacks. */
export async function startCrowded(
  t: TestContext,
  { engine, callbacks, env = {} }: CrowdOptions,
): Promise<{ server: RunningServer; place: StorePlace }> {
  const place = await makeMigratedPlace(engine)
  const world = join(place.dataDir, 'world.json')
  await writeFile(world, JSON.stringify(crowdedWorld(callbacks)))
  const server = await startCommand(['serve', '--port', '0', '--data', place.dataDir, '--world', world], {
    cwd: place.dataDir,
    env: {
      ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }),
      LOG_LEVEL: 'error',
      RATE_LIMITS: 'off',
      ...env,
    },
  })
  t.after(async () => {
    await server.stop('SIGKILL')
    await place.remove()
  })
  return { server, place }
}

/** A user writes to the owner's number: an event for every subscriber. Returns the status of the response. */
export async function writeAs(
  server: Pick<RunningServer, 'url'>,
  user: string,
  id: string,
  signal: AbortSignal | null = null,
): Promise<number> {
  const response = await fetch(`${server.url}/msgapp/webhooks`, {
    method: 'POST',
    signal,
    headers: { authorization: `Bearer ${tokens.gateway}`, 'content-type': 'application/json' },
    body: JSON.stringify(envelopeOf([messagesChange(textMessage(id, 'Hello', user))])),
  })
  await response.arrayBuffer()
  return response.status
}
