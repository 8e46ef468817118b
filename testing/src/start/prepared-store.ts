import { createHash, randomBytes } from 'node:crypto'
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Switchboard } from '@switchboard/client'
import type { FoundServer } from './find-server.ts'
import { type RunningServer, runCommand, type Settings, startServer } from './server-process.ts'

/** What was put into a store besides its world: tokens of ours, and for each business an app that is subscribed to everything. */
export interface StoreKeys {
  readonly operatorToken: string
  readonly gatewayToken: string
  readonly businesses: readonly TestedBusiness[]
  readonly accounts: readonly TestedAccount[]
  readonly numbers: readonly string[]
  /** Users whose windows the world opens when it is applied: in a copy they are opened anew, however old the store is. */
  readonly users: readonly TestedUser[]
}

/** @public Named in the types of the package. */
export interface TestedUser {
  readonly wa_id: string
  readonly chats: readonly { readonly phone_number_id: string; readonly window_opened_at?: string | null }[]
}

/**
 * What a world file has to say of an account at least, and the apps that it is linked to.
 * @public Named in the types of the package.
 */
export interface TestedAccount {
  readonly id: string
  readonly business_id: string
  readonly name: string
  readonly subscribed_apps: readonly string[]
}

export interface TestedBusiness {
  readonly id: string
  readonly token: string
  readonly app_id: string
  readonly secret: string
}

export interface StoreOptions {
  readonly server: FoundServer
  readonly settings: Settings
  readonly vocabulary: 'msgapp' | 'whatsapp'
  /** A world file's text. Undefined: the demo world. */
  readonly world: string | undefined
}

/** Of the business that owns what the tests need, and no account. */
const ownBusiness = '2990000000000000'
const ownApp = '3990000000000000'
/** Counts what is prepared: a store of another layout is not used. */
const layout = 4
/** Two weeks: holidays. */
const keptUnused = 14 * 24 * 60 * 60 * 1000
/** What is kept here; whatever else lies in the folder is not ours. */
const ownStore = /^world-[\da-f]{24}$/
const firstAppId = 3_990_000_000_000_001

/** A copy of a store with a world in it, made once for each world. `folder` holds it and nothing else. */
export async function copyStore(options: StoreOptions): Promise<{ folder: string; keys: StoreKeys }> {
  const base = await openBase()
  const prepared = join(base, `world-${hash(options)}`)
  const keys = (await readKeys(prepared)) ?? (await prepare(base, prepared, options))
  const folder = await mkdtemp(join(base, `run-${process.pid}-`))
  const now = await timeOf(folder)
  // Its time says when it was used last.
  await utimes(prepared, now / 1000, now / 1000).catch(() => undefined)
  await sweep(base, now)
  const users = openWindows(keys.users, now)
  await cp(join(prepared, 'data'), join(folder, 'data'), { recursive: true })
  return { folder, keys: { ...keys, users } }
}

/** When a folder was made: the time of the system, whatever time a test has set for itself. */
async function timeOf(folder: string): Promise<number> {
  return Math.floor((await stat(folder)).mtimeMs)
}

function openWindows(users: readonly TestedUser[], time: number): TestedUser[] {
  const window_opened_at = new Date(time).toISOString()
  return users.map(({ wa_id, chats }) => ({ wa_id, chats: chats.map((chat) => ({ ...chat, window_opened_at })) }))
}

/** For when a prepared store cannot be used, because another version of the server made it. */
export async function forgetStore(options: StoreOptions): Promise<void> {
  await rm(join(await openBase(), `world-${hash(options)}`), { recursive: true, force: true })
}

async function openBase(): Promise<string> {
  const base = join(tmpdir(), `switchboard-testing-${process.getuid?.() ?? 0}`)
  await mkdir(base, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  // It holds tokens, if only of tests, and old things in it are removed: what somebody else put there is not followed.
  const found = await lstat(base)
  const uid = process.getuid?.()
  if (!found.isDirectory() || (uid !== undefined && found.uid !== uid)) {
    throw new Error(`${base} is not a folder of this user: remove it, or set TMPDIR to a folder that is`)
  }
  await chmod(base, 0o700)
  return base
}

function hash(options: StoreOptions): string {
  return createHash('sha256')
    .update(JSON.stringify([layout, options]))
    .digest('hex')
    .slice(0, 24)
}

async function readKeys(prepared: string): Promise<StoreKeys | undefined> {
  try {
    return JSON.parse(await readFile(join(prepared, 'keys.json'), 'utf8')) as StoreKeys
  } catch {
    return undefined
  }
}

/** Removes what processes left that were killed together with their servers, and the stores of worlds that nobody uses any more. */
async function sweep(base: string, now: number): Promise<void> {
  for (const name of await readdir(base)) {
    const folder = join(base, name)
    const pid = /^(?:run|new)-(\d+)-/.exec(name)?.[1]
    const isLeft = pid === undefined ? ownStore.test(name) && (await isUnused(folder, now)) : !isAlive(Number(pid))
    if (isLeft) await rm(folder, { recursive: true, force: true })
  }
}

async function isUnused(folder: string, now: number): Promise<boolean> {
  const { mtimeMs } = await lstat(folder).catch(() => ({ mtimeMs: now }))
  return now - mtimeMs > keptUnused
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export interface ExportedWorld {
  readonly businesses?: readonly { readonly id: string }[]
  readonly accounts?: readonly (Omit<TestedAccount, 'subscribed_apps'> & {
    readonly subscribed_apps?: readonly string[]
    readonly phone_numbers?: readonly { readonly id: string }[]
  })[]
  readonly users?: readonly (Pick<TestedUser, 'wa_id'> & Partial<TestedUser>)[]
}

/** Built beside and renamed into place: several test files may begin at once. */
async function prepare(base: string, prepared: string, options: StoreOptions): Promise<StoreKeys> {
  const folder = await mkdtemp(join(base, `new-${process.pid}-`))
  const begun = await timeOf(folder)
  const { server: found, settings, world, vocabulary } = options
  const place = { command: found.command, settings, folder, stays: true, dataDir: join(folder, 'data') }
  const tokens = { operatorToken: makeSecret(), gatewayToken: makeSecret() }
  const own = describeOwn(tokens)
  const file = join(folder, 'world.yaml')
  let server: RunningServer | undefined
  try {
    if (world !== undefined) {
      await writeFile(join(folder, 'own.json'), JSON.stringify(own))
      await runCommand(place, ['apply', join(folder, 'own.json')])
      await writeFile(file, world)
    }
    // Where the store is empty the server fills it with the demo world, whose operator can add the rest.
    server = await startServer(place, world === undefined ? [] : ['--world', file])
    const demo = new Switchboard({ baseUrl: server.url, vocabulary, token: 'demo-operator-token' })
    if (world === undefined) await demo.operator.world.apply(own)
    const client = new Switchboard({ baseUrl: server.url, vocabulary, token: tokens.operatorToken })
    const exported = await client.operator.world.export({ headers: { accept: 'application/json' } })
    const filled = (await exported.json()) as ExportedWorld
    const keys = { ...describeKeys(tokens, filled), users: findOpened(filled, begun) }
    await client.operator.world.apply(describeApps(keys, vocabulary))
    await server.stop()
    await writeFile(join(folder, 'keys.json'), JSON.stringify(keys))
    // Another process may have been quicker: then its store is taken, and with it its tokens.
    await rename(folder, prepared).catch(() => rm(folder, { recursive: true, force: true }))
    return (await readKeys(prepared)) ?? keys
  } catch (error) {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
    // Nobody knows the file that the world was written to.
    if (error instanceof Error) error.message = error.message.replaceAll(file, 'the world')
    throw error
  }
}

/** The chats whose windows were opened since then. */
function findOpened({ users = [] }: ExportedWorld, begun: number): TestedUser[] {
  return users
    .map(({ wa_id, chats = [] }) => ({
      wa_id,
      chats: chats
        .filter(({ window_opened_at }) => typeof window_opened_at === 'string' && Date.parse(window_opened_at) >= begun)
        .map(({ phone_number_id }) => ({ phone_number_id })),
    }))
    .filter(({ chats }) => chats.length > 0)
}

export type Tokens = Pick<StoreKeys, 'operatorToken' | 'gatewayToken'>

function makeSecret(): string {
  return randomBytes(24).toString('base64url')
}

function describeOwn({ operatorToken, gatewayToken }: Tokens) {
  return {
    businesses: [{ id: ownBusiness, name: 'Tests' }],
    apps: [{ id: ownApp, business_id: ownBusiness, name: 'Tests' }],
    tokens: [
      { token: operatorToken, app_id: ownApp, scopes: ['operator'] },
      { token: gatewayToken, app_id: ownApp, scopes: ['gateway'] },
    ],
  }
}

/** What is in a world, with an app and a token for each business. */
export function describeKeys(
  tokens: Tokens,
  { businesses = [], accounts = [] }: ExportedWorld,
  firstId = firstAppId,
): StoreKeys {
  const others = businesses.filter(({ id }) => id !== ownBusiness)
  return {
    ...tokens,
    businesses: others.map(({ id }, index) => ({
      id,
      token: makeSecret(),
      app_id: String(firstId + index),
      secret: makeSecret(),
    })),
    accounts: accounts.map(({ id, business_id, name, subscribed_apps = [] }) => ({
      id,
      business_id,
      name,
      subscribed_apps,
    })),
    numbers: accounts.flatMap(({ phone_numbers = [] }) => phone_numbers.map(({ id }) => id)),
    users: [],
  }
}

/** An app and a token for each business, which may do everything that a business may. */
export function describeApps({ businesses }: StoreKeys, vocabulary: string) {
  const scopes = [`${vocabulary}_business_management`, `${vocabulary}_business_messaging`, 'business_management']
  return {
    apps: businesses.map(({ id, app_id, secret }) => ({ id: app_id, business_id: id, name: 'Tests', secret })),
    tokens: businesses.map(({ token, app_id }) => ({ token, app_id, scopes })),
  }
}
