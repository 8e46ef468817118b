import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import type { PhoneNumbersTable } from '../../db/tables.ts'
import { defineRead } from '../../graph/define.ts'
import { type ListOptions, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { phoneNumberGatewayOperations } from './gateway.ts'
import { numberLookupOperations } from './gateway-lookup.ts'
import { describeForLibraries, findForLibraries, libraryInfoMembers, libraryListMembers } from './library-fields.ts'
import { createNumber, deregisterNumber, registerNumber, requestCode, verifyCode } from './life-operations.ts'
import { chooseListedStatus } from './listed-status.ts'
import { toAccountNumber, toListedNumber } from './rules.ts'
import {
  accountModes,
  accountNumberSchema,
  listedNumberSchema,
  messagingLimitTiers,
  phoneNumberInfoSchema,
} from './schemas.ts'
import { updateSettings } from './settings-operations.ts'
import { findPhoneNumber, listPhoneNumbers } from './store.ts'
import { numberEntries } from './world.ts'

const listedFields = Object.keys(listedNumberSchema.properties)
const infoDefaults = ['id', 'display_phone_number', 'verified_name', 'quality_rating']

const numberList: ListOptions = {
  maxLimit: 100,
  idColumn: 'id',
  sortable: true,
  defaultSort: 'creation_time.desc',
  sorts: {
    'creation_time.asc': { column: 'creation_time', direction: 'asc' },
    'creation_time.desc': { column: 'creation_time', direction: 'desc' },
    'last_onboarded_time.asc': { column: 'last_onboarded_time', direction: 'asc' },
    'last_onboarded_time.desc': { column: 'last_onboarded_time', direction: 'desc' },
  },
  filters: {
    account_mode: { expression: sql.ref('account_mode'), values: accountModes },
    messaging_limit_tier: { expression: sql.ref('messaging_limit_tier'), values: messagingLimitTiers },
    is_official_business_account: { expression: sql.ref('is_official_business_account'), values: [true, false] },
  },
}

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    phone_number: true
    account_number: true
  }
}

export const phoneNumbersChapter: Chapter = {
  name: 'phone-numbers',
  title: 'Phone numbers',
  nodes: {
    phone_number: {
      placeholder: 'Phone-Number-ID',
      called: 'a phone number',
      example: '4000000000000001',
      named: { table: 'phone_numbers', columns: ['verified_name', 'display_phone_number', 'phone_number'] },
    },
    account_number: {
      placeholder: 'Account-Number-ID',
      called: 'an account number',
      example: '4100000000000001',
      named: {
        table: 'phone_numbers',
        columns: ['verified_name', 'display_phone_number', 'phone_number'],
        id: 'account_number_id',
      },
    },
  },
  rows: (vocabulary) => [
    ...phoneNumberOperations(vocabulary),
    ...phoneNumberGatewayOperations(),
    ...numberLookupOperations(vocabulary),
  ],
  world: [numberEntries],
  leftOutOfWorld: { 'two-step PINs': 'two_step_pins', 'callbacks of numbers': 'phone_number_callbacks' },
}

function phoneNumberOperations(vocabulary: Vocabulary): NewOperation[] {
  const { library_fields } = vocabulary.habits
  const status = chooseListedStatus(vocabulary)
  const listed = Type.Object({
    ...listedNumberSchema.properties,
    status: status.schema,
    ...libraryListMembers(vocabulary),
  })
  const info = Type.Object({ ...phoneNumberInfoSchema.properties, ...libraryInfoMembers(vocabulary) })
  const show = (row: PhoneNumbersTable) => ({
    ...toListedNumber(row),
    status: status.show(row.link_status),
    ...(library_fields && describeForLibraries(row)),
  })
  return [
    defineRead({
      name: 'phone_numbers.list',
      method: 'GET',
      path: '/{Version}/{Account-ID}/phone_numbers',
      sentence: 'Lists the phone numbers of an account.',
      permission: 'management',
      fields: { available: Object.keys(listed.properties), defaults: listedFields, mode: 'replace' },
      list: numberList,
      input: Type.Object({}),
      output: Type.Object({ data: Type.Array(listed), paging: pagingSchema }),
      examples: {
        input: { limit: 1, sort: 'creation_time.desc' },
        output: {
          data: [
            {
              id: '4000000000000001',
              display_phone_number: '+1 631-555-1001',
              verified_name: 'Lucky Shrub',
              status: 'CONNECTED',
              quality_rating: 'GREEN',
              country_code: 'US',
              country_dial_code: '1',
              code_verification_status: 'VERIFIED',
              unified_cert_status: 'APPROVED',
              account_mode: 'LIVE',
              host_platform: 'CLOUD_API',
              messaging_limit_tier: 'TIER_1K',
              is_official_business_account: false,
              username: '',
            },
          ],
          paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
        },
      },
      async run({ db, node, page, project }) {
        return page.fetch(
          (range) => listPhoneNumbers(db, node, range),
          (row) => project(show(row)),
        )
      },
    }),
    createNumber(),
    defineRead({
      name: 'phone_numbers.read_info',
      method: 'GET',
      path: '/{Version}/{Phone-Number-ID}',
      sentence: 'Reads a phone number by its Phone-Number-ID.',
      permission: 'either',
      fields: { available: Object.keys(info.properties), defaults: infoDefaults, mode: 'add' },
      input: Type.Object({}),
      output: info,
      examples: {
        input: { fields: 'name_status' },
        output: {
          id: '4000000000000001',
          display_phone_number: '+1 631-555-1001',
          verified_name: 'Lucky Shrub',
          quality_rating: 'GREEN',
          name_status: 'APPROVED',
        },
      },
      async run(context) {
        const { db, node } = context
        const row = await findPhoneNumber(db, node)
        if (!library_fields) return context.project(row)
        const { caller, fields = infoDefaults } = context
        if (fields === infoDefaults) return context.project(row)
        return context.project(await findForLibraries(db, { node, app_id: caller.app_id, fields }, row))
      },
    }),
    updateSettings(),
    requestCode(),
    verifyCode(),
    registerNumber(vocabulary),
    deregisterNumber(),
    defineRead({
      name: 'phone_numbers.read_account_number',
      method: 'GET',
      path: '/{Version}/{Account-Number-ID}',
      sentence: 'Reads a phone number by its Account-Number-ID.',
      permission: 'management',
      fields: {
        available: Object.keys(accountNumberSchema.properties),
        defaults: ['id', 'display_phone_number', 'status'],
        mode: 'replace',
      },
      input: Type.Object({}),
      output: accountNumberSchema,
      examples: {
        output: { id: '4100000000000001', display_phone_number: '+1 631-555-1001', status: 'CONNECTED' },
      },
      async run({ db, node, project }) {
        return project(toAccountNumber(await findPhoneNumber(db, node)))
      },
    }),
  ]
}
