import { Type } from 'typebox'
import { renewAppTokens } from '../../auth/app-tokens.ts'
import type { Transaction } from '../../db/database.ts'
import { keyedHash } from '../../db/secrets/keyed-hash.ts'
import type { SealedPlace } from '../../db/secrets/sealed-columns.ts'
import { holdsSecret, openSecret, type Seal, takeSeal } from '../../db/secrets/sealing.ts'
import type { Sealed } from '../../db/tables.ts'
import { endWaiting } from '../../delivery/history/end-waiting.ts'
import { ensureLanes } from '../../delivery/store/lane-rows.ts'
import { accountObject, webhookFields } from '../../delivery/webhook-fields.ts'
import { findRedirectProblem } from '../../egress/callback-url.ts'
import { inBatches } from '../../world-part/batches.ts'
import { pickGiven, toEntry } from '../../world-part/entries.ts'
import {
  defineWorldPart,
  type Entry,
  exportRows,
  exportValue,
  listReferences,
  type WriteContext,
} from '../../world-part/part.ts'
import { readRows, upsertChanged, upsertNodes } from '../../world-part/rows.ts'
import { idListSchema, idSchema, nameSchema } from '../../world-part/schemas.ts'
import { accountEntries } from '../account/world.ts'
import { partnerKinds } from '../solutions/schemas.ts'
import { callbackUrlSchema, redirectUrisSchema, verifyTokenSchema } from './schemas.ts'
import { openVerifyToken, unlinkApp } from './store.ts'

const appSchema = Type.Object({
  id: idSchema,
  business_id: idSchema,
  name: Type.Optional(nameSchema),
  secret: Type.Optional(
    Type.String({
      // The blank of a file would be part of it: of no header, and of no setting that an app reads it from.
      pattern: '^(?!\\s)[^\\x00-\\x1f\\x7f]+(?<!\\s)$',
      maxLength: 255,
      'x-expects': 'a secret of 1 to 255 characters, without blanks around it and without line breaks or tabs',
    }),
  ),
  partner_kind: Type.Optional(Type.Enum(partnerKinds)),
  first_party: Type.Optional(Type.Boolean()),
  redirect_uris: Type.Optional(redirectUrisSchema),
  require_appsecret_proof: Type.Optional(Type.Boolean()),
})

const appEntries = defineWorldPart({
  key: 'apps',
  form: 'list',
  schema: appSchema,
  nodes: [{ kind: 'application', key: 'id' }],
  ownerOf: ({ business_id }) => ({ business_id, account_id: null }),
  *references({ given, place }) {
    yield { place: `${place}.business_id`, id: given.business_id, kind: 'business' }
  },
  secrets: ({ secret }) => ({ secret }),
  checkFile:
    (problems) =>
    ({ given, place }) => {
      for (const [index, uri] of (given.redirect_uris ?? []).entries()) {
        const problem = findRedirectProblem(uri, `${place}.redirect_uris[${index}]`)
        if (problem) problems.add(problem.place, problem.problem)
      }
    },
  async write(apps, context) {
    const { tx, now, random, tools } = context
    const seal = await takeSeal(tx)
    await upsertNodes(context, 'apps', apps, {
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
        secret_time: now,
        redirect_uris: given.redirect_uris ? [...given.redirect_uris] : null,
        require_appsecret_proof: given.require_appsecret_proof ?? null,
      }),
      change: ({ given: { id, secret: text, ...given } }, stored) => {
        const secret = text === undefined ? undefined : sealUnlessSame(tx, seal, 'apps.secret', id, text, stored.secret)
        const isNew = secret !== undefined && secret !== stored.secret
        const { name, partner_kind, first_party, redirect_uris, require_appsecret_proof } = given
        return pickGiven({
          name,
          secret,
          partner_kind,
          first_party,
          redirect_uris: redirect_uris && [...redirect_uris],
          require_appsecret_proof,
          secret_time: isNew ? now : undefined,
        })
      },
    })
    for await (const batch of inBatches(apps)) {
      await renewAppTokens(
        tx,
        tools,
        batch.map(({ given }) => given.id),
      )
    }
  },
  export: exportRows({
    table: 'apps',
    toEntries: (apps, db) =>
      apps.map((app) => toEntry(appSchema, app, { secret: openSecret(db, 'apps.secret', app.id, app.secret) })),
  }),
})

/** The subscription of an app, which is set without a handshake. */
const webhookEntry = defineWorldPart({
  key: 'webhook',
  form: 'value',
  under: appEntries,
  schema: Type.Object({
    callback_url: callbackUrlSchema,
    verify_token: Type.Optional(verifyTokenSchema),
    fields: Type.Optional(Type.Array(Type.Enum(webhookFields), { maxItems: webhookFields.length, uniqueItems: true })),
  }),
  secrets: ({ verify_token }) => ({ verify_token }),
  async write(webhooks, context) {
    const { tx, now, random } = context
    const seal = await takeSeal(tx)
    const writeVerifyToken = (app_id: string, text: string, stored?: Sealed) => {
      const row = `${app_id} ${accountObject}`
      return {
        verify_token: sealUnlessSame(tx, seal, 'app_subscriptions.verify_token', row, text, stored),
        verify_token_hash: keyedHash(tx, 'verify token', text),
      }
    }
    await upsertChanged(
      context,
      {
        table: 'app_subscriptions',
        key: ['app_id', 'object'],
        keyOf: ({ parent }) => [parent.given.id, accountObject],
        nodeOf: ({ parent }) => parent.given.id,
        create: ({ given, parent: { given: app } }) => ({
          app_id: app.id,
          object: accountObject,
          callback_url: given.callback_url,
          ...writeVerifyToken(app.id, given.verify_token ?? random.bytes(16).toString('hex')),
          fields: [...(given.fields ?? webhookFields)],
          created_time: now,
        }),
        change: ({ given: { callback_url, verify_token, fields }, parent: { given: app } }, stored) =>
          pickGiven({
            callback_url,
            fields,
            ...(verify_token !== undefined && writeVerifyToken(app.id, verify_token, stored.verify_token)),
          }),
      },
      webhooks,
    )
    for await (const batch of inBatches(webhooks)) {
      await ensureLanes(
        tx,
        batch.map(({ given: { callback_url }, parent }) => ({ app_id: parent.given.id, callback_url })),
      )
    }
  },
  export: exportValue({
    table: 'app_subscriptions',
    of: 'app_id',
    order: ['object'],
    toValue(subscriptions, db) {
      const subscription = subscriptions.find(({ object }) => object === accountObject)
      if (!subscription) return undefined
      const { callback_url, fields } = subscription
      return { callback_url, verify_token: openVerifyToken(db, subscription), fields }
    },
  }),
})

/** Keeps an unchanged stored value: sealing it again would give another text, and the row would count as changed. */
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

interface Link {
  readonly account_id: string
  readonly app_id: string
}
type Linked = Entry<readonly string[] | null, Entry<{ readonly id: string }>>

/** The apps that receive an account's events: exactly those of the list. An app is linked only if its business has access. */
const linkEntry = defineWorldPart({
  key: 'subscribed_apps',
  form: 'value',
  under: accountEntries,
  schema: idListSchema,
  references: ({ given, place }) => listReferences(given, place, 'application'),
  async write(lists, context) {
    await unlinkOthers(lists, context)
    await upsertChanged(
      context,
      {
        table: 'subscribed_apps',
        key: ['account_id', 'app_id'],
        keyOf: ({ account_id, app_id }) => [account_id, app_id],
        nodeOf: ({ account_id }) => account_id,
        create: (link) => ({ ...link, override_callback_uri: null, verify_token: null, created_time: context.now }),
        change: () => ({}),
      },
      await listAllowedLinks(lists, context),
    )
  },
  export: exportValue({
    table: 'subscribed_apps',
    of: 'account_id',
    order: ['app_id'],
    toValue: (links) => links.map(({ app_id }) => app_id),
  }),
})

async function unlinkOthers(lists: readonly Linked[], context: WriteContext): Promise<void> {
  const { tx, tally, knownNodes, tools } = context
  const wanted = new Map(lists.map(({ given, parent }) => [parent.given.id, new Set(given)]))
  const known = [...wanted.keys()].filter((id) => knownNodes.has(id))
  const former: Link[] = []
  for await (const link of readRows(tx, 'subscribed_apps', 'account_id', ['account_id', 'app_id'], known)) {
    if (!wanted.get(link.account_id)?.has(link.app_id)) former.push(link)
  }
  for await (const batch of inBatches(former)) {
    for (const { account_id, app_id } of batch) {
      await unlinkApp(tx, account_id, app_id)
      await endWaiting(tx, tools, { account_id, app_id })
    }
  }
  tally.updated += former.length
}

async function listAllowedLinks(lists: readonly Linked[], { tx, warn }: WriteContext): Promise<Link[]> {
  const apps = new Map<string, string>()
  const appIds = new Set(lists.flatMap(({ given }) => given ?? []))
  for await (const app of readRows(tx, 'apps', 'id', ['id', 'business_id'], [...appIds])) {
    apps.set(app.id, app.business_id)
  }
  const access = new Set<string>()
  const accountIds = lists.map(({ parent }) => parent.given.id)
  const columns = ['account_id', 'business_id'] as const
  for await (const { account_id, business_id } of readRows(tx, 'account_access', 'account_id', columns, accountIds)) {
    access.add(`${account_id} ${business_id}`)
  }
  const links = new Map<string, Link>()
  for (const { given, place, parent } of lists) {
    const account_id = parent.given.id
    for (const [index, app_id] of (given ?? []).entries()) {
      const business_id = apps.get(app_id)
      if (access.has(`${account_id} ${business_id}`)) links.set(`${account_id} ${app_id}`, { account_id, app_id })
      else {
        warn(
          `${place}[${index}]`,
          `the app was not linked, because its business ${business_id} has no access to the account; name that in shared_with or on_behalf_of, or leave the app out.`,
        )
      }
    }
  }
  return [...links.values()]
}

export const webhookWorld = [appEntries, webhookEntry, linkEntry]
