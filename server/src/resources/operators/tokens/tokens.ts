import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { readScope, writeScope } from '../../../auth/scopes.ts'
import { insertTokenNote, maxNameLength } from '../../../auth/token-notes.ts'
import { endToken, insertToken, makeTokenSecret, revokeToken } from '../../../auth/tokens.ts'
import { endAfter, parseDuration } from '../../../base/time/duration.ts'
import { type Caller, isScopeOfService, type Scope, scopes as scopeNames } from '../../../graph/caller.ts'
import { defineOperatorRead, defineOperatorWrite } from '../../../graph/define.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentWrong, notFound } from '../../../graph/errors.ts'
import { writeTimestamp } from '../../../graph/input/timestamps.ts'
import { newestFirst, pagingSchema } from '../../../graph/lists/paging.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { Recorded, type Subject } from '../../../graph/result.ts'
import { idSchema, successSchema } from '../../../graph/schemas.ts'
import type { Vocabulary } from '../../../graph/vocabulary.ts'
import { expiryTwice, notADuration, tokenIsOfApp } from '../errors.ts'
import { exampleCursors, exampleTime } from '../examples.ts'
import { checkNewToken } from './token-rules.ts'
import { findMaker, findTokenForOperators, listTokensOfTenantsForOperators } from './token-store.ts'

const nullable = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Array>>(schema: T, about: string) =>
  Type.Union([schema, Type.Null()], { description: about })

const states = ['good', 'expired', 'revoked'] as const

const tokenSchema = Type.Object({
  id: Type.String({ description: 'By which it is listed and revoked; it reveals nothing about the secret.' }),
  app_id: nullable(Type.String(), 'Null: a session of the console, or an app that this token does not see.'),
  business_id: nullable(Type.String(), 'The business of its app.'),
  scopes: Type.Array(Type.String()),
  accounts: nullable(Type.Array(Type.String()), 'The only accounts that it sees; null: no such limit.'),
  businesses: nullable(Type.Array(Type.String()), 'The only businesses that an operator sees; null: no such limit.'),
  created_time: Type.String({ format: 'date-time' }),
  expires_time: nullable(Type.String({ format: 'date-time' }), 'Null: never.'),
  revoked_time: nullable(Type.String({ format: 'date-time' }), 'Null: it is not revoked.'),
  state: Type.Enum(states),
  session_name: Type.Optional(
    Type.String({ description: 'The name of whoever is signed in to the console with it; absent for other tokens.' }),
  ),
  made_by: Type.Optional(
    Type.String({ description: 'The id of the console session by which it was made; absent: by none.' }),
  ),
  user: Type.Optional(
    Type.Object(
      { id: Type.String(), name: Type.String() },
      { description: 'The person of a business to whom it belongs; absent: to nobody.' },
    ),
  ),
  connection_id: Type.Optional(
    Type.String({ description: 'The connection that it was given for, and with which it ends; absent: none.' }),
  ),
  name: nullable(Type.String(), 'What it is for, as its creator wrote; null: it was not given.'),
  created_by: nullable(
    Type.String(),
    'The name of the console session that created it, or the id of the token that did; null: not known, as for those of a command or a world file.',
  ),
  last_used_time: nullable(
    Type.String({ format: 'date-time' }),
    'When it was used last, to within five minutes; null: not since that is noted.',
  ),
})

const newTokenSchema = Type.Object({
  token: Type.String({ description: 'The secret, shown this once.' }),
  ...tokenSchema.properties,
})

const inputSchema = Type.Object({
  app_id: idSchema({ description: 'The app that it acts for.' }),
  scopes: Type.Optional(
    Type.Array(Type.String({ maxLength: 100 }), {
      maxItems: 20,
      description: `What it may do: ${scopeNames.join(', ')}; left out: both business scopes.`,
    }),
  ),
  accounts: Type.Optional(
    Type.Array(idSchema(), { maxItems: 1000, description: 'The only accounts that it sees; left out: no such limit.' }),
  ),
  businesses: Type.Optional(
    Type.Array(idSchema(), {
      maxItems: 1000,
      description: 'With the scope operator, the only businesses that it sees; left out: no such limit.',
    }),
  ),
  expires: Type.Optional(
    Type.String({
      maxLength: 20,
      description:
        'Its lifetime, such as 12h or 60d. Left out: it has no end, unless it is made by a session of the console with the scope gateway or operator: then it ends with the session.',
    }),
  ),
  expires_at: Type.Optional(Type.String({ format: 'date-time', maxLength: 64, description: 'When it ends, instead.' })),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: maxNameLength, description: 'What it is for, to find it in the list.' }),
  ),
})

const defaultScopes: readonly Scope[] = ['msgapp_business_management', 'msgapp_business_messaging']

const exampleToken = {
  id: 't0011223344556677',
  app_id: '3000000000000001',
  business_id: '2000000000000001',
  scopes: ['operator'],
  accounts: null,
  businesses: null,
  created_time: exampleTime,
  expires_time: '2026-07-31T12:00:00.000Z',
  revoked_time: null,
  state: 'good' as const,
  name: 'Backups',
  created_by: 'Ada',
  last_used_time: null,
}

export function tokenOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.list_tokens',
      method: 'GET',
      path: '/operator/tokens',
      sentence: 'Lists tokens, newest first, without their secrets, and without those that apps have by their secrets.',
      list: newestFirst(1000),
      input: Type.Object({
        app_id: Type.Optional(idSchema({ description: 'Only those of this app.' })),
        state: Type.Optional(Type.Enum(states, { description: 'Only those in this state.' })),
        q: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 100,
            description: 'Only those whose name, id, session, app or creator has this part.',
          }),
        ),
      }),
      output: Type.Object({ data: Type.Array(tokenSchema), paging: pagingSchema }),
      examples: { input: { state: 'good', limit: 1 }, output: { data: [exampleToken], paging: exampleCursors } },
      async run({ db, caller, page, vocabulary }, filter) {
        return page.fetch(
          (range) => listTokensOfTenantsForOperators(db, caller, filter, page.now, range),
          (row) => showToken(withoutForeignApp(row, caller), vocabulary, page.now),
          { db, table: 'tokens', by: filter.app_id === undefined ? undefined : sql`app_id = ${filter.app_id}` },
        )
      },
    }),
    defineOperatorWrite({
      name: 'operator.create_token',
      method: 'POST',
      path: '/operator/tokens',
      sentence: 'Creates a token for an app; its secret is only in this response.',
      returnsSecret: true,
      input: inputSchema,
      output: newTokenSchema,
      examples: {
        input: { app_id: '3000000000000001', scopes: ['operator'], expires: '60d', name: 'Backups' },
        output: { token: 'sb_Y2hvc2VuIGF0IHJhbmRvbSwgMzIgYnl0ZXMgbG9uZw', ...exampleToken },
      },
      async run({ db, clock, random, caller, limits, vocabulary }, input) {
        const { app_id, accounts, businesses, name = null } = input
        const scopes = input.scopes ? [...new Set(input.scopes.map(parseScope))] : defaultScopes
        const isOfService = scopes.some(isScopeOfService)
        const maker = await findMaker(db, caller)
        const asked = readExpiry(input, clock.now())
        // What a session makes for the doors of the service ends with it, unless its end is given.
        const expires_time = asked ?? (isOfService ? maker.expires_time : null)
        const business_id = await checkNewToken(db, limits, { app_id, scopes, accounts, businesses })
        const token = makeTokenSecret(random)
        const row = {
          app_id,
          scopes: [...scopes],
          accounts: accounts ? [...new Set(accounts)] : null,
          businesses: businesses ? [...new Set(businesses)] : null,
          expires_time,
        }
        const { made_by, created_by } = maker
        const session_grant = isOfService ? maker.session_grant : undefined
        const id = await insertToken(db, clock, random, { ...row, made_by, session_grant, secret: token })
        await insertTokenNote(db, { token_id: id, name, created_by })
        const created = {
          ...row,
          id,
          business_id,
          made_by,
          name,
          created_by,
          created_time: clock.now(),
          revoked_time: null,
        }
        const response = { token, ...showToken(created, vocabulary, clock.now()) }
        return new Recorded(response, subjectOf(created))
      },
    }),
    defineOperatorWrite({
      name: 'operator.revoke_token',
      method: 'DELETE',
      path: '/operator/tokens/{token_id}',
      sentence: 'Revokes a token: every process refuses it from now on.',
      input: Type.Object({ token_id: idSchema({ description: 'The id of the token.' }) }),
      output: successSchema,
      examples: {
        input: { token_id: 't0011223344556677' },
        output: { success: true },
        first: [{ send: 'operator.create_token', take: { pointer: '/id', as: 'token_id' } }],
      },
      async run({ db, clock, caller }, { token_id }) {
        const found = await findTokenForOperators(db, caller, token_id)
        if (!found) throw notFound()
        if (found.is_of_app) throw tokenIsOfApp({ app: found.app_id ?? '' })
        const isOwn = token_id === caller.token_id
        await (isOwn ? endToken(db, clock, token_id) : revokeToken(db, clock, token_id))
        return new Recorded({ success: true }, subjectOf(found))
      },
    }),
  ]
}

/** Who sees only some businesses learns of no other's app, not even from the own token. */
function withoutForeignApp<T extends TokenRow>(row: T, { accounts, businesses }: Caller): T {
  const isSeen = (!accounts && !businesses) || (row.business_id !== null && businesses?.has(row.business_id) === true)
  return isSeen ? row : { ...row, app_id: null, business_id: null }
}

/** Of a business only where the token acts for that business alone. */
function subjectOf({ id, scopes, business_id, session_name }: TokenRow): Subject {
  const isOfService = Boolean(session_name) || scopes.some(isScopeOfService)
  return { id, kind: 'token', business_id: isOfService ? undefined : (business_id ?? undefined) }
}

type TokenRow = Pick<Static<typeof tokenSchema>, 'id' | 'app_id' | 'business_id' | 'scopes'> & {
  readonly accounts: string[] | null
  readonly businesses: string[] | null
  readonly created_time: number
  readonly expires_time: number | null
  readonly revoked_time: number | null
  readonly session_name?: string | null
  readonly made_by?: string | null | undefined
  readonly name: string | null
  readonly created_by: string | null
  readonly last_used_time?: number | null
  readonly user_id?: string | null
  readonly user_name?: string | null
  readonly connection_id?: string | null
}

function showToken(row: TokenRow, vocabulary: Vocabulary, now: number): Static<typeof tokenSchema> {
  const { id, app_id, business_id, scopes, accounts, businesses, created_time, expires_time, revoked_time } = row
  const hasEnded = expires_time !== null && expires_time <= now
  return {
    id,
    app_id,
    business_id,
    scopes: (scopes as Scope[]).map((scope) => writeScope(scope, vocabulary)),
    accounts,
    businesses,
    created_time: writeTimestamp(created_time),
    expires_time: expires_time === null ? null : writeTimestamp(expires_time),
    revoked_time: revoked_time === null ? null : writeTimestamp(revoked_time),
    state: revoked_time !== null ? 'revoked' : hasEnded ? 'expired' : 'good',
    ...(row.session_name && { session_name: row.session_name }),
    ...(row.made_by && { made_by: row.made_by }),
    ...(row.user_id && { user: { id: row.user_id, name: row.user_name ?? row.user_id } }),
    ...(row.connection_id && { connection_id: row.connection_id }),
    name: row.name,
    created_by: row.created_by,
    last_used_time: row.last_used_time ? writeTimestamp(row.last_used_time) : null,
  }
}

function parseScope(text: string, index: number): Scope {
  const scope = readScope(text)
  if (!scope) throw badArgument(argumentWrong(`scopes[${index}]`, { expected: `one of ${scopeNames.join(', ')}` }))
  return scope
}

function readExpiry({ expires, expires_at }: Static<typeof inputSchema>, now: number): number | null {
  if (expires !== undefined && expires_at !== undefined) throw badArgument(expiryTwice('expires'))
  if (expires_at !== undefined) return readTime(expires_at)
  if (expires === undefined) return null
  const end = endAfter(now, parseDuration(expires) || undefined)
  if (end === undefined) throw badArgument(notADuration('expires'))
  return end
}

function readTime(text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time)) {
    throw badArgument(argumentWrong('expires_at', { expected: 'a time such as 2027-01-31T12:00:00Z' }))
  }
  return time
}
