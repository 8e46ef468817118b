import type { AnyErrorStatus, ErrorDefinition, GraphError } from '../graph-error.ts'
import type { Vocabulary } from '../vocabulary.ts'
import { findErrorTitle, findTitleForPeople } from './titles.ts'

/** Status, codes and texts of an error as its caller sees them. */
export interface ShownError {
  readonly status: AnyErrorStatus
  readonly code: number
  readonly subcode: number | undefined
  readonly type: string
  readonly message: string
  /** The sentence that helps, where `message` is a title. */
  readonly details: string | undefined
  /** Title and sentence for the person who writes templates. */
  readonly user: { readonly title: string; readonly text: string } | undefined
}

type Refusal = Pick<ShownError, 'status' | 'code' | 'subcode' | 'type'>

const types: Record<AnyErrorStatus, string> = {
  400: 'OAuthException',
  401: 'OAuthException',
  403: 'OAuthException',
  404: 'GraphMethodException',
  408: 'GraphMethodException',
  416: 'OAuthException',
  422: 'GraphMethodException',
  429: 'OAuthException',
  500: 'GraphMethodException',
}

/** Errors whose status differs from what their own says. */
const publicStatuses: Readonly<Record<number, AnyErrorStatus>> = { 132001: 404, 131000: 500, 131016: 500 }

/** What only fault rules cause. */
const publicFaults = [131000, 131016].map((code) => ({ status: 500 as const, code, subcode: undefined }))

/** The errors that a fault rule may name: as the catalogue has them, and as they are shown. */
export function listFaultErrors(
  catalogue: readonly ErrorDefinition[],
  { habits }: Vocabulary,
): Pick<ErrorDefinition, 'status' | 'code' | 'subcode'>[] {
  if (!habits.public_refusals) return [...catalogue]
  return [...catalogue.map(refusePublicly), ...publicFaults, ...catalogue]
}

/** An object that is unknown, not visible, or has no such operation. */
const unknownObject: Refusal = { status: 400, code: 100, subcode: 33, type: 'GraphMethodException' }
const codeOfUnknown = 803

/** Ids of the errors with code 803 that are about no object. */
const ofNoObject = [
  'method_unknown',
  'path_of_another_vocabulary',
  'path_misspelt',
  'path_unknown',
  'not_a_proxy',
  'fault_rule',
]

/** How an error is shown to a caller of the business door; other doors are no part of the public platform and keep their own form. */
export function showError(error: GraphError, vocabulary: Vocabulary, isBusiness: boolean): ShownError {
  const own = { ...error.definition, type: types[error.definition.status] }
  const { public_refusals, titled_errors } = vocabulary.habits
  const plain = { message: error.message, details: undefined, user: undefined }
  if (!isBusiness) return { ...own, ...plain }
  const refusal = public_refusals ? refusePublicly(error.definition) : own
  if (!titled_errors) return { ...refusal, ...plain }
  const titleForPeople = findTitleForPeople(refusal.subcode)
  return {
    ...refusal,
    message: `(#${refusal.code}) ${findErrorTitle(refusal.code, refusal.subcode)}`,
    details: error.message,
    user: titleForPeople === undefined ? undefined : { title: titleForPeople, text: error.message },
  }
}

/** The status and codes with which the public platform refuses. */
export function refusePublicly({ id, status, code, subcode }: ErrorDefinition): Refusal {
  if (status === 404 && code === codeOfUnknown && !ofNoObject.includes(id)) return unknownObject
  const type = 'OAuthException'
  if (id === 'invalid_token') return { status, code, subcode: undefined, type }
  return { status: publicStatuses[code] ?? (status === 422 ? 400 : status), code, subcode, type }
}
