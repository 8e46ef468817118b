import type { CallsTable } from '../../../db/tables.ts'
import { type Finding, makeFinding } from './finding-codes.ts'

/** What is wrong with the sound of a call. */
export function findFindings({ end_reason }: Pick<CallsTable, 'end_reason'>): Finding[] {
  return end_reason === null ? [] : [makeFinding('media', end_reason)]
}
