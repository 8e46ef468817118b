import { isRealInternationalNumber } from '../../base/text/international-number.ts'
import type { ComplianceInfoTable } from '../../db/tables.ts'
import { type ArgumentProblem, badArgument } from '../../graph/define-error.ts'
import { argumentWrong } from '../../graph/errors.ts'
import {
  customTypeNotTaken,
  customTypeRequired,
  entityNameTooShort,
  officerNameBlank,
  registrationNotTaken,
} from './errors.ts'
import { type ComplianceInfo, expectedNumber } from './schemas.ts'

type StoredCompliance = Omit<ComplianceInfoTable, 'phone_number_id'>

/** Violations of the chapter's rules by members that are valid by themselves. */
export function findComplianceProblems(info: ComplianceInfo): ArgumentProblem[] {
  const problems: ArgumentProblem[] = []
  const { entity_name, entity_type, entity_type_custom, is_registered, grievance_officer_details } = info
  if ([...entity_name.trim()].length < 2) {
    problems.push(entityNameTooShort('entity_name'))
  }
  if (entity_type === 'OTHER' && (entity_type_custom ?? '').trim() === '') {
    problems.push(customTypeRequired('entity_type_custom'))
  }
  if (entity_type !== 'OTHER' && entity_type_custom !== undefined) {
    problems.push(customTypeNotTaken('entity_type_custom'))
  }
  if (is_registered !== undefined && entity_type !== 'OTHER' && entity_type !== 'PARTNERSHIP') {
    problems.push(registrationNotTaken('is_registered'))
  }
  if (grievance_officer_details.name.trim() === '') {
    problems.push(officerNameBlank('grievance_officer_details.name'))
  }
  for (const contact of ['grievance_officer_details', 'customer_care_details'] as const) {
    for (const member of ['mobile_number', 'landline_number'] as const) {
      const number = info[contact][member]
      if (number !== undefined && !isRealInternationalNumber(number)) {
        problems.push(argumentWrong(`${contact}.${member}`, { expected: expectedNumber }))
      }
    }
  }
  return problems
}

/** Throws the 400 for the first violated rule. */
export function checkCompliance(info: ComplianceInfo): void {
  const [first] = findComplianceProblems(info)
  if (first) throw badArgument(first)
}

/**
 * The record as stored: names without surrounding spaces, contacts without unknown members. A write replaces it as a whole, because
 * its members are valid only together.
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
