import type { Message } from '../messages.ts'

/** Why a message did not reach its user, in words; undefined when it did, or still may. */
export function explainFailure({
  state,
  errors,
}: Pick<Message, 'errors'> & { readonly state: string }): string | undefined {
  if (state === 'expired') return 'Not delivered: the phone was not reached in time.'
  if (state !== 'failed') return undefined
  const [failure] = errors
  const parts = [failure?.title ?? failure?.message, failure?.error_data?.details]
  const reason = [...new Set(parts)].filter(Boolean).join(': ')
  return reason === '' ? 'Not delivered.' : `Not delivered: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}`
}
