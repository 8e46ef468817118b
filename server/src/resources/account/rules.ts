import type { Random } from '../../base/keys/random.ts'
import type { AccountsTable } from '../../db/tables.ts'
import { type ArgumentProblem, badArgument } from '../../graph/define-error.ts'
import { accountNameLength, maxNameLength } from './errors.ts'
import type { AccountUpdate } from './schemas.ts'

/** Surrounding spaces of an account's name do not count. */
export function findNameProblems(name: string): ArgumentProblem[] {
  const length = [...name.trim()].length
  if (length >= 1 && length <= maxNameLength) return []
  return [accountNameLength('name')]
}

export function trimName({ name, ...others }: AccountUpdate): AccountUpdate {
  if (name === undefined) return others
  for (const problem of findNameProblems(name)) throw badArgument(problem)
  return { ...others, name: name.trim() }
}

/** The defaults of a new account. */
export const accountDefaults: Omit<
  AccountsTable,
  'id' | 'business_id' | 'name' | 'message_template_namespace' | 'created_time'
> = {
  timezone_id: null,
  account_review_status: 'APPROVED',
  business_verification_status: 'UNVERIFIED',
  country: null,
  ownership_type: 'SELF_OWNED',
  primary_business_location: null,
  small_business: false,
}

/** The namespace of an account's message templates: a random UUID (version 4) with underscores. */
export function makeTemplateNamespace(random: Random): string {
  const bytes = random.bytes(16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1_$2_$3_$4_')
}
