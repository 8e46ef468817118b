import { readScope, writeScope } from '../../auth/scopes.ts'
import { insertTokenNote, maxNameLength } from '../../auth/token-notes.ts'
import { insertToken, listTokensForOperators, makeTokenSecret, revokeToken } from '../../auth/tokens.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { parseDuration } from '../../base/time/duration.ts'
import type { Transaction } from '../../db/database.ts'
import { type Scope, scopes } from '../../graph/caller.ts'
import { chooseVocabulary } from '../../graph/vocabulary.ts'
import { CommandFailed } from '../fail.ts'
import { ask, findRemote, type RemoteFlags, RemoteRefused } from '../remote.ts'
import { withLockedStore, withStore } from '../store.ts'
import { type Column, printList, showText, writeTime } from '../table.ts'

export interface TokenFlags extends RemoteFlags {
  readonly app: string
  readonly scope: string[]
  readonly account: string[]
  readonly business: string[]
  readonly expires?: string
  readonly name?: string
  readonly data?: string
}

const defaultScopes: readonly Scope[] = ['msgapp_business_management', 'msgapp_business_messaging']

/** Prints only the secret on standard output, for scripts, and explanations on standard error. */
export async function createToken(flags: TokenFlags): Promise<void> {
  const wanted = flags.scope.length === 0 ? defaultScopes : flags.scope.map(parseScope)
  if (flags.business.length > 0 && !wanted.includes('operator')) {
    throw new CommandFailed('--business limits an operator alone: give --scope operator too, or --account')
  }
  const lifetime = flags.expires === undefined ? undefined : parseLifetime(flags.expires)
  const { name = null } = flags
  if (name !== null && (name === '' || name.length > maxNameLength)) {
    throw new CommandFailed(`--name must have 1 to ${maxNameLength} characters`)
  }
  const remote = await findRemote(flags)
  if (remote) {
    const params = {
      app_id: flags.app,
      scopes: wanted,
      ...(flags.account.length > 0 && { accounts: flags.account }),
      ...(flags.business.length > 0 && { businesses: flags.business }),
      expires: flags.expires,
      name: flags.name,
    }
    const made = await ask(remote, ({ operator }) => operator.tokens.create(params))
    return printNew(made.id, made.token)
  }
  await withStore({ DATA_DIR: flags.data }, async (database) => {
    const secret = makeTokenSecret(systemRandom)
    const id = await database.transaction(async (tx) => {
      await checkReferences(tx, flags)
      const token_id = await insertToken(tx, systemClock, systemRandom, {
        secret,
        app_id: flags.app,
        scopes: wanted,
        accounts: flags.account.length === 0 ? null : flags.account,
        businesses: flags.business.length === 0 ? null : flags.business,
        expires_time: lifetime === undefined ? null : systemClock.now() + lifetime,
      })
      await insertTokenNote(tx, { token_id, name, created_by: null })
      return token_id
    })
    printNew(id, secret)
  })
}

function printNew(id: string, secret: string): void {
  process.stdout.write(`${secret}\n`)
  process.stderr.write(`Token ${id} was made. Its secret is shown this once and cannot be read again.\n`)
}

export async function listTokens(flags: RemoteFlags & { data?: string; json?: boolean }): Promise<void> {
  const remote = await findRemote(flags)
  if (remote) {
    // The door lists the newest first.
    const items = await ask(remote, ({ operator }) => operator.tokens.list({ limit: 1000 }).toArray())
    return printList(items.toReversed(), tokenColumns, flags)
  }
  await withLockedStore({ DATA_DIR: flags.data }, async (database, config) => {
    const vocabulary = chooseVocabulary(config.vocabulary)
    const tokens = await listTokensForOperators(database.read)
    const now = systemClock.now()
    const items = tokens.map(
      ({ scopes, created_time, expires_time, revoked_time, session_name, last_used_time, ...token }) => ({
        ...token,
        scopes: (scopes as Scope[]).map((scope) => writeScope(scope, vocabulary)),
        created_time: writeTime(created_time),
        expires_time: expires_time === null ? null : writeTime(expires_time),
        revoked_time: revoked_time === null ? null : writeTime(revoked_time),
        last_used_time: last_used_time === null ? null : writeTime(last_used_time),
        ...(session_name !== null && { session_name }),
        state: revoked_time !== null ? 'revoked' : expires_time !== null && expires_time <= now ? 'expired' : 'good',
      }),
    )
    printList(items, tokenColumns, flags)
  })
}

type ListedToken = {
  id: string
  app_id: string | null
  scopes: string[]
  accounts: readonly string[] | null
  businesses: readonly string[] | null
  created_time: string
  expires_time: string | null
  state: string
  session_name?: string | undefined
  name?: string | null
  created_by?: string | null
  last_used_time?: string | null
}

const tokenColumns: readonly Column<ListedToken>[] = [
  { heading: 'ID', cell: ({ id }) => id, isWhole: true },
  { heading: 'STATE', cell: ({ state }) => state, isWhole: true },
  { heading: 'FOR', cell: ({ app_id, session_name }) => session_name ?? app_id ?? '–' },
  { heading: 'ACCOUNTS', cell: writeLimits },
  { heading: 'EXPIRES', cell: ({ expires_time }) => expires_time ?? 'never', isWhole: true },
  { heading: 'NAME', cell: ({ name }) => showText(name ?? '–') },
  { heading: 'LAST USED', cell: ({ last_used_time }) => last_used_time ?? '–', isWhole: true },
  { heading: 'BY', cell: ({ created_by }) => showText(created_by ?? '–') },
  { heading: 'SCOPES', cell: ({ scopes }) => scopes.join(',') },
  { heading: 'CREATED', cell: ({ created_time }) => created_time, isWhole: true },
]

/** By the id of a token, or by its name where one good token has it. */
export async function revokeTokenBy(wanted: string, flags: RemoteFlags & { data?: string }): Promise<void> {
  const remote = await findRemote(flags)
  if (remote) {
    const named = await ask(remote, ({ operator }) =>
      operator.tokens.list({ q: wanted, state: 'good', limit: 1000 }).toArray(),
    )
    const id = chooseId(wanted, named)
    await ask(remote, ({ operator }) => operator.tokens.revoke(id)).catch((error) => {
      throw error instanceof RemoteRefused && error.status === 404 ? unknownToken(wanted) : error
    })
    return printRevoked(id, wanted)
  }
  await withLockedStore({ DATA_DIR: flags.data }, async (database) => {
    const tokens = await listTokensForOperators(database.read)
    const now = systemClock.now()
    const good = tokens.filter(
      ({ revoked_time, expires_time }) => revoked_time === null && (expires_time ?? now + 1) > now,
    )
    const id = chooseId(wanted, [...good, ...tokens.filter((token) => token.id === wanted)])
    const found = await database.transaction((tx) => revokeToken(tx, systemClock, id))
    if (!found) throw unknownToken(wanted)
    printRevoked(id, wanted)
  })
}

/** An id wins over a name. */
function chooseId(wanted: string, tokens: readonly { readonly id: string; readonly name?: string | null }[]): string {
  if (tokens.some(({ id }) => id === wanted)) return wanted
  const named = tokens.filter(({ name }) => name === wanted)
  if (named.length > 1) {
    throw new CommandFailed(
      `${named.length} tokens have the name ${showText(wanted)}: give the id of one of them, ${named.map(({ id }) => id).join(', ')}`,
    )
  }
  return named[0]?.id ?? wanted
}

function unknownToken(wanted: string): CommandFailed {
  return new CommandFailed(`there is no token ${showText(wanted)}: see ./switchboard token list`)
}

function printRevoked(id: string, wanted: string): void {
  process.stdout.write(`Token ${id}${id === wanted ? '' : `, ${showText(wanted)},`} is revoked.\n`)
}

/** What a token is limited to. */
function writeLimits({ accounts, businesses }: ListedToken): string {
  return accounts || businesses ? [...(accounts ?? []), ...(businesses ?? [])].join(',') : 'all'
}

function parseScope(text: string): Scope {
  const scope = readScope(text)
  if (!scope) throw new CommandFailed(`--scope ${text} is not one of ${scopes.join(', ')}`)
  return scope
}

function parseLifetime(text: string): number {
  const lifetime = parseDuration(text)
  if (!lifetime) throw new CommandFailed(`--expires ${text} is not a duration such as 12h or 60d`)
  return lifetime
}

async function checkReferences(tx: Transaction, { app, account, business }: TokenFlags): Promise<void> {
  const found = await tx.query
    .selectFrom('nodes')
    .select(['id', 'kind'])
    .where('id', 'in', [app, ...account, ...business])
    .execute()
  const kinds = new Map(found.map(({ id, kind }) => [id, kind]))
  if (kinds.get(app) !== 'application')
    throw new CommandFailed(`--app ${app} is not an app of this store; ./switchboard export lists them`)
  for (const id of account) {
    if (kinds.get(id) !== 'account')
      throw new CommandFailed(`--account ${id} is not an account of this store; ./switchboard export lists them`)
  }
  for (const id of business) {
    if (kinds.get(id) !== 'business')
      throw new CommandFailed(`--business ${id} is not a business of this store; ./switchboard export lists them`)
  }
}
