import { APIConnectionError, APIError } from '@switchboard/client'

/** What went wrong, in one sentence for people. What a server says may come from anybody, so control characters are removed. */
export function explain(error: unknown): string {
  if (error instanceof APIError) return `the server answered ${error.status}: ${writePlain(error.detail)}`
  if (error instanceof APIConnectionError) return `the server cannot be reached (${error.reason})`
  return error instanceof Error ? writePlain(error.message) : String(error)
}

function writePlain(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim()
}

/** Whether the server refused what was asked, because the call had gone on meanwhile. */
export function isTooLate(error: unknown): boolean {
  return error instanceof APIError && error.status === 422
}
