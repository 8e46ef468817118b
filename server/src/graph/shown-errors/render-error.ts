import type { AnyErrorStatus, GraphError } from '../graph-error.ts'
import type { Vocabulary } from '../vocabulary.ts'
import { showError } from './show-error.ts'

export interface ErrorBody {
  readonly error: Readonly<Record<string, string | number | boolean | Readonly<Record<string, string>>>>
}

/** How the errors of a route are written. */
export interface ErrorForm {
  /** Whether errors show only `message`, `type` and `code`; one operation does. */
  readonly briefErrors: boolean
  /** Whether errors of the route also have `error_data`. */
  readonly errorData: boolean
  /** Whether it is a route of businesses. */
  readonly isBusiness: boolean
  /** Makes the page that people get instead, where only people come; undefined: errors are objects of the API. */
  readonly page?: MakeErrorPage | undefined
}

/** Makes a page of an error that people see. */
export type MakeErrorPage = (error: { readonly status: number; readonly message: string; readonly trace: string }) => {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/** Of requests that no route matched: most are mistakes of somebody who means the routes of businesses. */
export const usualForm: ErrorForm = { briefErrors: false, errorData: false, isBusiness: true }

/** Errors that the caller can fix repeat their sentence in `error_data` if the operation asks for that. */
const statusesWithData: readonly AnyErrorStatus[] = [400, 403, 422, 429]

/** The status and the envelope of an error. */
export function renderError(
  error: GraphError,
  vocabulary: Vocabulary,
  trace: string,
  { briefErrors, errorData, isBusiness }: ErrorForm,
): { readonly status: AnyErrorStatus; readonly body: ErrorBody } {
  const { status, code, subcode, type, message, details, user } = showError(error, vocabulary, isBusiness)
  const body = { message, type, code }
  // A title alone would not help anybody.
  if (briefErrors && details === undefined) return { status, body: { error: body } }
  const isTransient = status === 408 || status === 429 || status === 500
  const shown = details ?? (errorData && statusesWithData.includes(status) ? message : undefined)
  return {
    status,
    body: {
      error: {
        ...body,
        ...(subcode !== undefined && { error_subcode: subcode }),
        ...(isTransient && { is_transient: true }),
        ...(user && { error_user_title: user.title, error_user_msg: user.text }),
        ...(shown !== undefined && { error_data: { messaging_product: vocabulary.product, details: shown } }),
        [vocabulary.trace_member]: trace,
      },
    },
  }
}
