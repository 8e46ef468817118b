import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { clientBusinessOperations } from './client-businesses.ts'
import { checkOwnCredits } from './rules.ts'
import { businessSchema, extendedCreditListSchema, migrationIntentSchema } from './schemas.ts'
import { findBusiness, findMigrationIntent, listExtendedCredits } from './store.ts'
import { portfolioWorld } from './world.ts'

const businessFields = Object.keys(businessSchema.properties)
const migrationIntentFields = Object.keys(migrationIntentSchema.properties)

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    migration_intent: true
    extended_credit: true
    business_user: true
  }
}

export const portfolioChapter: Chapter = {
  name: 'portfolio',
  title: 'Portfolio, credits and migration',
  nodes: {
    business: {
      placeholder: 'Business-ID',
      called: 'a business',
      example: '2000000000000001',
      named: { table: 'businesses', columns: ['name'] },
    },
    business_user: { called: 'a person of a business', named: { table: 'business_users', columns: ['name'] } },
    migration_intent: { placeholder: 'Migration-Intent-ID', called: 'a migration intent', example: '8000000000000001' },
    extended_credit: { called: 'a credit line', named: { table: 'extended_credits', columns: ['legal_entity_name'] } },
  },
  rows: (vocabulary) => [...portfolioOperations(), ...clientBusinessOperations(vocabulary)],
  world: portfolioWorld,
}

function portfolioOperations(): NewOperation[] {
  return [
    defineRead({
      name: 'portfolio.read_business',
      method: 'GET',
      path: '/{Version}/{Business-ID}',
      sentence: 'Reads a business portfolio.',
      permission: 'management',
      fields: { available: businessFields, defaults: businessFields, mode: 'replace' },
      input: Type.Object({}),
      output: businessSchema,
      examples: { output: { id: '2000000000000001', name: 'Lucky Shrub', timezone_id: 1 } },
      async run({ db, node, project }) {
        return project(await findBusiness(db, node))
      },
    }),
    defineRead({
      name: 'portfolio.list_extended_credits',
      method: 'GET',
      path: '/{Version}/{Business-ID}/extendedcredits',
      sentence: 'Lists the credit lines of the business itself.',
      permission: 'management',
      permit: ({ caller, node }) => checkOwnCredits(caller, node),
      input: Type.Object({}),
      output: extendedCreditListSchema,
      examples: { output: { data: [{ id: '2100000000000001', legal_entity_name: 'Lucky Shrub LLC' }] } },
      async run({ db, node }) {
        return { data: await listExtendedCredits(db, node) }
      },
    }),
    defineRead({
      name: 'portfolio.read_migration_intent',
      method: 'GET',
      path: '/{Version}/{Migration-Intent-ID}',
      sentence: 'Reads the state of a request to move an account.',
      permission: 'management',
      fields: { available: migrationIntentFields, defaults: migrationIntentFields, mode: 'replace' },
      input: Type.Object({}),
      output: migrationIntentSchema,
      examples: { output: { id: '8000000000000001', status: 'INITIATED' } },
      async run({ db, node, project }) {
        return project(await findMigrationIntent(db, node))
      },
    }),
  ]
}
