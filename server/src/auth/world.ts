import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Db, Transaction } from '../db/database.ts'
import { scopes } from '../graph/caller.ts'
import { inBatches } from '../world-part/batches.ts'
import { pickGiven } from '../world-part/entries.ts'
import { defineWorldPart, listReferences, type WriteContext } from '../world-part/part.ts'
import { Repeats } from '../world-part/problems.ts'
import { readRows, upsertChanged } from '../world-part/rows.ts'
import { idSchema } from '../world-part/schemas.ts'
import { appTokenPattern } from './app-tokens.ts'
import { limitGrant, readScope } from './scopes.ts'
import { maxNameLength, nameTokens } from './token-notes.ts'
import { hashToken, isMade, makeTokenId } from './tokens.ts'

const defaultScopes = ['msgapp_business_management', 'msgapp_business_messaging']

/** Both vocabularies' spellings, so that one file serves both. */
const scopeSpellings = [
  ...scopes,
  ...scopes.filter(isProductScope).map((scope) => scope.replace(/^msgapp_/, 'whatsapp_')),
]

function isProductScope(scope: string): boolean {
  return scope.startsWith('msgapp_')
}

/** Tokens, stored as hashes only. A revoked one stays revoked: applying a file again must not revive it. */
export const tokenEntries = defineWorldPart({
  key: 'tokens',
  form: 'list',
  schema: Type.Object({
    token: Type.String({
      pattern: '^[\\x21-\\x7e]{1,512}$',
      maxLength: 512,
      'x-expects': 'a secret of 1 to 512 letters, digits and signs of ASCII, without blanks',
    }),
    app_id: idSchema,
    scopes: Type.Optional(Type.Array(Type.Enum(scopeSpellings))),
    accounts: Type.Optional(Type.Array(idSchema)),
    businesses: Type.Optional(Type.Array(idSchema)),
    expires_at: Type.Optional(Type.String({ format: 'date-time', maxLength: 64 })),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: maxNameLength })),
  }),
  *references({ given, place }) {
    yield { place: `${place}.app_id`, id: given.app_id, kind: 'application' }
    yield* listReferences(given.accounts, `${place}.accounts`, 'account')
    yield* listReferences(given.businesses, `${place}.businesses`, 'business')
  },
  secrets: ({ token }) => ({ token }),
  checkFile(problems) {
    const secrets = new Repeats(problems)
    return ({ given, place }) => {
      if (given.expires_at !== undefined && Number.isNaN(Date.parse(given.expires_at))) {
        problems.add(`${place}.expires_at`, 'it must be a time such as 2027-01-31T12:00:00Z.')
      }
      if (given.businesses && !given.scopes?.includes('operator')) {
        problems.add(`${place}.businesses`, 'they limit only operators; give the scope operator, or leave them out.')
      }
      if (appTokenPattern.test(given.token)) {
        problems.add(
          `${place}.token`,
          'an app has a token of this form by its secret; leave it out, or give another text.',
        )
      }
      secrets.note(given.token, `${place}.token`, 'that token')
    }
  },
  async checkStore(tokens, { tx, problems }) {
    const byHash = new Map(tokens.map((token) => [hashToken(tx, token.given.token), token]))
    for await (const row of readRows(tx, 'tokens', 'hash', ['hash', 'app_id'], [...byHash.keys()])) {
      const token = byHash.get(row.hash)
      if (!token || token.given.app_id === row.app_id) continue
      problems.add(
        `${token.place}.app_id`,
        `the store has this token for app ${row.app_id}; name that app, or make a new token.`,
      )
    }
  },
  async write(tokens, context) {
    const counts = await upsertChanged(
      context,
      {
        table: 'tokens',
        key: ['hash'],
        keyOf: ({ hash }) => [hash],
        create: ({ hash, given, scopes, expires_time }) => ({
          id: makeTokenId(context.random),
          hash,
          app_id: given.app_id,
          scopes: scopes ?? defaultScopes,
          accounts: given.accounts ? [...new Set(given.accounts)] : null,
          businesses: given.businesses ? [...new Set(given.businesses)] : null,
          created_time: context.now,
          expires_time: expires_time ?? null,
          revoked_time: null,
          session_name: null,
          session_grant: null,
          made_by: null,
          user_id: null,
          connection_id: null,
          is_of_app: null,
          exchanged_from: null,
        }),
        change: ({ given: { accounts, businesses }, scopes, expires_time }) =>
          pickGiven({
            scopes,
            accounts: accounts && [...new Set(accounts)],
            businesses: businesses && [...new Set(businesses)],
            expires_time,
          }),
      },
      tokens.map(({ given }) => ({
        given,
        hash: hashToken(context.tx, given.token),
        scopes: given.scopes && [...new Set(given.scopes.map(readKnownScope))],
        expires_time: given.expires_at === undefined ? undefined : Date.parse(given.expires_at),
      })),
    )
    const named = tokens.flatMap(({ given: { token, name } }) =>
      name === undefined ? [] : [[hashToken(context.tx, token), name] as const],
    )
    nameTokens(context.tx, new Map(named))
    const hashesOf = (some: typeof tokens) => some.map(({ given }) => hashToken(context.tx, given.token))
    await endExchangedWithFirst(context.tx, hashesOf(tokens.filter(({ given }) => given.expires_at !== undefined)))
    const limiting = tokens.filter(({ given }) => given.scopes !== undefined || given.accounts !== undefined)
    await limitExchangedToFirst(context, hashesOf(limiting))
    return counts
  },
})

/** What a token was exchanged for does not outlive it, also where its end was set afterwards. */
async function endExchangedWithFirst(tx: Transaction, hashes: readonly string[]): Promise<void> {
  const end = sql<number>`(SELECT expires_time FROM tokens first WHERE first.id = tokens.exchanged_from)`
  for await (const batch of inBatches(hashes)) {
    await tx.query
      .updateTable('tokens')
      .set({ expires_time: end })
      .where('exchanged_from', 'in', (db) => db.selectFrom('tokens').select('id').where('hash', 'in', batch))
      .where(sql<boolean>`tokens.expires_time > ${end}`)
      .execute()
  }
}

/** What a token was exchanged for may do no more than it may do itself, also where that was narrowed afterwards. */
async function limitExchangedToFirst({ tx, now }: WriteContext, hashes: readonly string[]): Promise<void> {
  for await (const batch of inBatches(hashes)) {
    const exchanged = await tx.query
      .selectFrom('tokens')
      .innerJoin('tokens as first', 'first.id', 'tokens.exchanged_from')
      .select(['tokens.id', 'tokens.scopes', 'tokens.accounts'])
      .select(['first.scopes as first_scopes', 'first.accounts as first_accounts'])
      .where('first.hash', 'in', batch)
      .where('tokens.revoked_time', 'is', null)
      .orderBy('tokens.id')
      .forUpdate('tokens')
      .execute()
    for (const { id, scopes, accounts, first_scopes, first_accounts } of exchanged) {
      const left = limitGrant({ scopes, accounts }, { scopes: first_scopes, accounts: first_accounts })
      if (left.scopes.length === scopes.length && left.accounts?.length === accounts?.length) continue
      const change = left.scopes.length === 0 ? { revoked_time: now } : left
      await tx.query.updateTable('tokens').set(change).where('id', '=', id).execute()
    }
  }
}

function readKnownScope(text: string): string {
  const scope = readScope(text)
  if (scope === undefined) throw new Error(`${text} passed the file's check but is not a scope`)
  return scope
}

/** Only the hashes of tokens are stored. */
export const tokensLeftOut: LeftOutTokens = { tokens: countMade }

interface LeftOutTokens {
  readonly tokens: (db: Db) => Promise<number>
}

/** Those of apps come with their secrets. */
async function countMade(db: Db): Promise<number> {
  const { count } = await db.query
    .selectFrom('tokens')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(isMade)
    .executeTakeFirstOrThrow()
  return count
}
