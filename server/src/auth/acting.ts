import type { Clock } from '../base/time/clock.ts'
import type { Db } from '../db/database.ts'
import type { Caller, Scope } from '../graph/caller.ts'
import { consoleAppUnseen, invalidToken, missingToken } from '../graph/errors.ts'
import { type AuthenticationDeps, type CredentialSource, hasEnded } from './bearer.ts'
import { readProvenSecret } from './sessions.ts'
import { findCaller, findCallerById } from './tokens.ts'

/** The header by which a session of the console says which app it acts for at the door of businesses. */
const appHeader = 'x-console-app'

/** What a token may do that the session creates for an app without saying more. */
const scopes: ReadonlySet<Scope> = new Set(['msgapp_business_management', 'msgapp_business_messaging'])

/** The app that a session of the console asks to act for. A token acts for its own app, whatever the header says. */
export function readActingApp(
  { headers, query }: CredentialSource,
  { vocabulary }: AuthenticationDeps,
): string | undefined {
  const hasToken = headers.authorization !== undefined || (vocabulary.habits.token_in_query && 'access_token' in query)
  const app_id = headers[appHeader]
  return hasToken || typeof app_id !== 'string' ? undefined : app_id
}

/** The session of the console behind a request, as a caller for an app that it may create tokens for (401, 403). */
export async function authenticateActing(
  deps: AuthenticationDeps,
  { headers, remote_address }: CredentialSource,
  app_id: string,
): Promise<Caller> {
  const { guesses, strangerLimit, clock, isSecure } = deps
  const db = deps.database.read
  // Also for a read: no other website can make a browser act for a business then.
  const secret = readProvenSecret(headers, isSecure)
  if (secret === undefined) {
    strangerLimit.take(remote_address)
    throw missingToken()
  }
  guesses.refuse(remote_address, secret)
  const session = await findCaller(db, secret)
  if (!session || hasEnded(session, clock)) {
    guesses.noteWrong(remote_address, { secret })
    throw invalidToken()
  }
  guesses.noteGood(secret)
  return actFor(db, session.caller, app_id)
}

/** The same caller as of now: the session may have ended, or its app may be gone. */
export async function authenticateActingAgain(db: Db, clock: Clock, { token_id, app_id }: Caller): Promise<Caller> {
  const session = await findCallerById(db, token_id)
  if (!session || hasEnded(session, clock)) throw invalidToken()
  return actFor(db, session.caller, app_id)
}

/**
 * With the rights of a token that the session could create for an app that it sees. What it does is recorded under the session, and
 * checked again by what the session was granted.
 */
async function actFor(db: Db, session: Caller, app_id: string): Promise<Caller> {
  const isSession = session.app_id === '' && session.scopes.has('operator')
  const app = await db.query
    .selectFrom('apps')
    .select(['id', 'business_id', 'first_party'])
    .where('id', '=', app_id)
    .executeTakeFirst()
  if (!isSession || !app || !seesBusiness(session, app.business_id)) throw consoleAppUnseen()
  const { business_id, first_party } = app
  return { ...session, app_id: app.id, business_id, first_party, scopes, accounts: undefined, isActing: true }
}

function seesBusiness({ accounts, businesses }: Caller, business_id: string): boolean {
  return (!accounts && !businesses) || businesses?.has(business_id) === true
}
