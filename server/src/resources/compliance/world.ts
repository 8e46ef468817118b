import { Type } from 'typebox'
import { toEntry, withoutGaps } from '../../world-part/entries.ts'
import { defineWorldPart, exportValue } from '../../world-part/part.ts'
import { upsertOfNumbers } from '../../world-part/rows.ts'
import { numberEntries } from '../phone-numbers/world.ts'
import { findComplianceProblems, toStoredCompliance } from './rules.ts'
import { complianceMembers } from './schemas.ts'

const schema = Type.Object(complianceMembers)

/** Replaces the number's record as a whole. */
export const complianceEntry = defineWorldPart({
  key: 'compliance',
  form: 'value',
  under: numberEntries,
  schema,
  checkFile: (problems) => {
    return ({ given, place }) => problems.addAll(place, findComplianceProblems(given))
  },
  write: (entries, context) =>
    upsertOfNumbers(context, 'compliance_info', entries, {
      create: ({ given, parent }) => ({ phone_number_id: parent.given.id, ...toStoredCompliance(given) }),
      change: ({ given }) => toStoredCompliance(given),
    }),
  export: exportValue({
    table: 'compliance_info',
    of: 'phone_number_id',
    toValue([info]) {
      if (!info) return undefined
      const { grievance_officer_details: officer, customer_care_details: care } = info
      return toEntry(schema, info, {
        grievance_officer_details: { name: officer['name'], ...toContactEntry(officer) },
        customer_care_details: toContactEntry(care),
      })
    },
  }),
})

function toContactEntry(contact: Readonly<Record<string, string>>): object {
  return withoutGaps({
    email: contact['email'],
    mobile_number: contact['mobile_number'],
    landline_number: contact['landline_number'],
  })
}
