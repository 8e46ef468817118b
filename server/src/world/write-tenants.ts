import { readScope } from '../auth/scopes.ts'
import { hashToken, makeTokenId } from '../auth/tokens.ts'
import type { Transaction } from '../db/database.ts'
import { keyedHash } from '../db/keyed-hash.ts'
import type { SealedPlace } from '../db/sealed-columns.ts'
import { holdsSecret, type Seal, takeSeal } from '../db/sealing.ts'
import type { Sealed } from '../db/tables.ts'
import { ensureLanes } from '../delivery/lane-rows.ts'
import { accountObject, webhookFields } from '../delivery/webhook-fields.ts'
import { inBatches } from './batches.ts'
import { bringRows, type WriteParts } from './rows.ts'
import type { Things } from './things.ts'

const defaultTimezone = 1
const defaultScopes = ['msgapp_business_management', 'msgapp_business_messaging']

/** Businesses with their credit lines, and apps with their webhooks. */
export async function writeTenants(parts: WriteParts, things: Things): Promise<void> {
  const { tx, now, random } = parts
  const seal = await takeSeal(tx)
  await bringRows(
    parts,
    {
      table: 'businesses',
      key: ['id'],
      keyOf: ({ given }) => [given.id],
      nodeOf: ({ given }) => given.id,
      create: ({ given: { id, name, timezone_id = defaultTimezone } }) => ({
        id,
        name,
        timezone_id,
        created_time: now,
      }),
      change: ({ given: { name, timezone_id } }) => pickGiven({ name, timezone_id }),
    },
    things.businesses,
  )
  await bringRows(
    parts,
    {
      table: 'extended_credits',
      key: ['id'],
      keyOf: ({ given }) => [given.id],
      nodeOf: ({ given }) => given.id,
      create: ({ given, business }) => ({
        id: given.id,
        business_id: business.id,
        legal_entity_name: given.legal_entity_name ?? business.name,
      }),
      change: ({ given: { legal_entity_name } }) => pickGiven({ legal_entity_name }),
    },
    things.credits,
  )
  await bringRows(
    parts,
    {
      table: 'apps',
      key: ['id'],
      keyOf: ({ given }) => [given.id],
      nodeOf: ({ given }) => given.id,
      create: ({ given }) => ({
        id: given.id,
        business_id: given.business_id,
        name: given.name ?? `App ${given.id}`,
        secret: seal('apps.secret', given.id, given.secret ?? random.bytes(16).toString('hex')),
        partner_kind: given.partner_kind ?? null,
        first_party: given.first_party ?? false,
        created_time: now,
        previous_secret: null,
        previous_secret_until: null,
      }),
      change: ({ given: { id, name, secret, partner_kind, first_party } }, stored) =>
        pickGiven({
          name,
          secret: secret === undefined ? undefined : sealUnlessSame(tx, seal, 'apps.secret', id, secret, stored.secret),
          partner_kind,
          first_party,
        }),
    },
    things.apps,
  )
  const webhooks = things.apps.flatMap(({ given: { id, webhook } }) => (webhook ? [{ app_id: id, webhook }] : []))
  await bringRows(
    parts,
    {
      table: 'app_subscriptions',
      key: ['app_id', 'object'],
      keyOf: ({ app_id }) => [app_id, accountObject],
      nodeOf: ({ app_id }) => app_id,
      create: ({ app_id, webhook }) => ({
        app_id,
        object: accountObject,
        callback_url: webhook.callback_url,
        ...writeVerifyToken(app_id, webhook.verify_token ?? random.bytes(16).toString('hex')),
        fields: [...(webhook.fields ?? webhookFields)],
        created_time: now,
      }),
      change: ({ app_id, webhook: { callback_url, verify_token, fields } }, stored) =>
        pickGiven({
          callback_url,
          fields,
          ...(verify_token !== undefined && writeVerifyToken(app_id, verify_token, stored.verify_token)),
        }),
    },
    webhooks,
  )
  for await (const batch of inBatches(webhooks)) {
    await ensureLanes(
      tx,
      batch.map(({ app_id, webhook: { callback_url } }) => ({ app_id, callback_url })),
    )
  }

  function writeVerifyToken(app_id: string, text: string, stored?: Sealed) {
    const row = `${app_id} ${accountObject}`
    return {
      verify_token: sealUnlessSame(tx, seal, 'app_subscriptions.verify_token', row, text, stored),
      verify_token_hash: keyedHash(tx, 'verify token', text),
    }
  }
}

/** What is stored already stays as it is: sealed anew it would be another value, and the row would count as changed. */
function sealUnlessSame(
  tx: Transaction,
  seal: Seal,
  column: SealedPlace,
  row: string,
  text: string,
  stored?: Sealed,
): Sealed {
  return stored !== undefined && holdsSecret(tx, column, row, stored, text) ? stored : seal(column, row, text)
}

/** Tokens, as their hashes alone. One that was revoked stays so: a file that is applied again must not revive it. */
export async function writeTokens(parts: WriteParts, { tokens }: Things): Promise<void> {
  const { now, random } = parts
  await bringRows(
    parts,
    {
      table: 'tokens',
      key: ['hash'],
      keyOf: ({ hash }) => [hash],
      create: ({ hash, given, scopes, expires_time }) => ({
        id: makeTokenId(random),
        hash,
        app_id: given.app_id,
        scopes: scopes ?? defaultScopes,
        accounts: given.accounts ? [...new Set(given.accounts)] : null,
        created_time: now,
        expires_time: expires_time ?? null,
        revoked_time: null,
      }),
      change: ({ given: { accounts }, scopes, expires_time }) =>
        pickGiven({ scopes, accounts: accounts && [...new Set(accounts)], expires_time }),
    },
    tokens.map(({ given }) => ({
      given,
      hash: hashToken(parts.tx, given.token),
      scopes: given.scopes && [...new Set(given.scopes.map(readKnownScope))],
      expires_time: given.expires_at === undefined ? undefined : Date.parse(given.expires_at),
    })),
  )
}

function readKnownScope(text: string): string {
  const scope = readScope(text)
  if (scope === undefined) throw new Error(`${text} passed the file's check but is not a scope`)
  return scope
}

/** Leaves out what the file leaves out, so that the store keeps what it has there. */
export function pickGiven<Columns extends object>(
  columns: Columns,
): { [K in keyof Columns]?: Exclude<Columns[K], undefined> } {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as {
    [K in keyof Columns]?: Exclude<Columns[K], undefined>
  }
}
