import { isRealInternationalNumber } from '../../base/international-number.ts'
import type { ComplianceInfoTable } from '../../db/tables.ts'
import type { Problem } from '../../graph/validation.ts'
import type { ComplianceInfo } from './schemas.ts'

/** What breaks the chapter's rules, though each member by itself has the right form. */
export function findComplianceProblems(info: ComplianceInfo): Problem[] {
  const problems: Problem[] = []
  const { entity_type, entity_type_custom, is_registered } = info
  if (entity_type === 'OTHER' && (entity_type_custom ?? '').trim() === '') {
    problems.push({ place: 'entity_type_custom', problem: 'it is required when entity_type is OTHER.' })
  }
  if (entity_type !== 'OTHER' && entity_type_custom !== undefined) {
    problems.push({ place: 'entity_type_custom', problem: 'it goes with entity_type OTHER alone; leave it out.' })
  }
  if (is_registered !== undefined && entity_type !== 'OTHER' && entity_type !== 'PARTNERSHIP') {
    problems.push({
      place: 'is_registered',
      problem: 'it goes with entity_type OTHER or PARTNERSHIP alone; leave it out.',
    })
  }
  for (const contact of ['grievance_officer_details', 'customer_care_details'] as const) {
    for (const member of ['mobile_number', 'landline_number'] as const) {
      const number = info[contact][member]
      if (number !== undefined && !isRealInternationalNumber(number)) {
        problems.push({
          place: `${contact}.${member}`,
          problem: 'it must be a phone number that exists, in international format such as +1 631-555-1001.',
        })
      }
    }
  }
  return problems
}

/** The record as it is stored. A write replaces the whole of it, because its members hold only together. */
export function toStoredCompliance(info: ComplianceInfo): Omit<ComplianceInfoTable, 'phone_number_id'> {
  return {
    entity_name: info.entity_name,
    entity_type: info.entity_type,
    entity_type_custom: info.entity_type_custom ?? null,
    is_registered: info.is_registered ?? null,
    grievance_officer_details: info.grievance_officer_details,
    customer_care_details: info.customer_care_details,
  }
}
