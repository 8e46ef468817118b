import { Type } from 'typebox'
import { pickGiven, toEntry, unlessEmpty } from '../../world-part/entries.ts'
import { defineWorldPart, exportRows, exportValue } from '../../world-part/part.ts'
import { upsertNodes } from '../../world-part/rows.ts'
import { idSchema, nameSchema, textSchema } from '../../world-part/schemas.ts'
import { accountEntries } from '../account/world.ts'
import { migrationIntentStatuses } from './schemas.ts'
import { endLinksOf } from './store.ts'

const defaultTimezone = 1

/** In lower case in the store: a mailbox is the same however it is written. */
const emailSchema = Type.String({
  format: 'email',
  maxLength: 254,
  'x-expects': 'an e-mail address such as ada@example.com',
})

const businessSchema = Type.Object({
  id: idSchema,
  name: nameSchema,
  timezone_id: Type.Optional(Type.Integer({ minimum: 0 })),
})

const businessEntries = defineWorldPart({
  key: 'businesses',
  form: 'list',
  schema: businessSchema,
  nodes: [{ kind: 'business', key: 'id' }],
  ownerOf: ({ id }) => ({ business_id: id, account_id: null }),
  write: (businesses, context) =>
    upsertNodes(context, 'businesses', businesses, {
      create: ({ given: { id, name, timezone_id = defaultTimezone } }) => ({
        id,
        name,
        timezone_id,
        created_time: context.now,
      }),
      change: ({ given: { name, timezone_id } }) => pickGiven({ name, timezone_id }),
    }),
  export: exportRows({
    table: 'businesses',
    toEntries: (businesses) => businesses.map((business) => toEntry(businessSchema, business, {})),
  }),
})

const userEntries = defineWorldPart({
  key: 'users',
  form: 'list',
  under: businessEntries,
  schema: Type.Object({ id: idSchema, name: nameSchema, email: emailSchema }),
  nodes: [{ kind: 'business_user', key: 'id' }],
  async write(users, context) {
    const arrived = new Set<string>()
    await upsertNodes(context, 'business_users', users, {
      create({ given: { id, name, email: given }, parent: { given: business } }) {
        const email = given.toLowerCase()
        arrived.add(email)
        return { id, business_id: business.id, name, email, created_time: context.now }
      },
      change({ given: { name, email: given } }, stored) {
        const email = given.toLowerCase()
        if (email !== stored.email) arrived.add(email)
        return { name, email }
      },
    })
    await endLinksOf(context.tx, [...arrived])
  },
  export: exportValue({
    table: 'business_users',
    of: 'business_id',
    order: ['created_time', 'id'],
    toValue: (users) => unlessEmpty(users.map(({ id, name, email }) => ({ id, name, email }))),
  }),
})

const creditEntries = defineWorldPart({
  key: 'extended_credits',
  form: 'list',
  under: businessEntries,
  schema: Type.Object({ id: idSchema, legal_entity_name: Type.Optional(textSchema) }),
  nodes: [{ kind: 'extended_credit', key: 'id' }],
  write: (credits, context) =>
    upsertNodes(context, 'extended_credits', credits, {
      create: ({ given, parent: { given: business } }) => ({
        id: given.id,
        business_id: business.id,
        legal_entity_name: given.legal_entity_name ?? business.name,
      }),
      change: ({ given: { legal_entity_name } }) => pickGiven({ legal_entity_name }),
    }),
  export: exportValue({
    table: 'extended_credits',
    of: 'business_id',
    order: ['id'],
    toValue: (credits) => unlessEmpty(credits.map(({ id, legal_entity_name }) => ({ id, legal_entity_name }))),
  }),
})

const intentEntries = defineWorldPart({
  key: 'migration_intents',
  form: 'list',
  under: accountEntries,
  schema: Type.Object({ id: idSchema, status: Type.Optional(Type.Enum(migrationIntentStatuses)) }),
  nodes: [{ kind: 'migration_intent', key: 'id' }],
  write: (intents, context) =>
    upsertNodes(context, 'migration_intents', intents, {
      create: ({ given: { id, status = 'INITIATED' }, parent }) => ({ id, account_id: parent.given.id, status }),
      change: ({ given: { status } }) => pickGiven({ status }),
    }),
  export: exportRows({
    table: 'migration_intents',
    of: 'account_id',
    toEntries: (intents) => intents.map(({ id, status }) => ({ id, status })),
  }),
})

export const portfolioWorld = [businessEntries, userEntries, creditEntries, intentEntries]
