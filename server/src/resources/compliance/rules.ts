import { isRealInternationalNumber } from '../../base/international-number.ts'
import type { ComplianceInfoTable } from '../../db/tables.ts'
import { badArgument } from '../../graph/errors.ts'
import type { Problem } from '../../graph/validation.ts'
import { type ComplianceInfo, expectedNumber } from './schemas.ts'

type StoredCompliance = Omit<ComplianceInfoTable, 'phone_number_id'>

/** What breaks the chapter's rules, though each member by itself has the right form. */
export function findComplianceProblems(info: ComplianceInfo): Problem[] {
  const problems: Problem[] = []
  const { entity_name, entity_type, entity_type_custom, is_registered, grievance_officer_details } = info
  if ([...entity_name.trim()].length < 2) {
    problems.push({ place: 'entity_name', problem: 'it must have at least 2 characters besides blanks around it.' })
  }
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
  if (grievance_officer_details.name.trim() === '') {
    problems.push({ place: 'grievance_officer_details.name', problem: 'it must hold more than blanks.' })
  }
  for (const contact of ['grievance_officer_details', 'customer_care_details'] as const) {
    for (const member of ['mobile_number', 'landline_number'] as const) {
      const number = info[contact][member]
      if (number !== undefined && !isRealInternationalNumber(number)) {
        problems.push({ place: `${contact}.${member}`, problem: `it must be ${expectedNumber}.` })
      }
    }
  }
  return problems
}

/** Throws the 400 for the first rule that is broken. */
export function checkCompliance(info: ComplianceInfo): void {
  const [first] = findComplianceProblems(info)
  if (first) throw badArgument(first.place, first.problem)
}

/**
 * The record as it is stored: names without the blanks around them, contacts without members that nobody knows. A write
 * replaces the whole of it, because its members hold only together.
 */
export function toStoredCompliance(info: ComplianceInfo): StoredCompliance {
  const { grievance_officer_details: officer, customer_care_details: care } = info
  return {
    entity_name: info.entity_name.trim(),
    entity_type: info.entity_type,
    entity_type_custom: info.entity_type_custom?.trim() ?? null,
    is_registered: info.is_registered ?? null,
    grievance_officer_details: { name: officer.name.trim(), ...pickContact(officer) },
    customer_care_details: pickContact(care),
  }
}

function pickContact({ email, mobile_number, landline_number }: ComplianceInfo['customer_care_details']) {
  return {
    email,
    ...(mobile_number !== undefined && { mobile_number }),
    ...(landline_number !== undefined && { landline_number }),
  }
}
