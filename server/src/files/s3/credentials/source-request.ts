import { Client } from 'undici'
import { FilesUnavailable } from '../../unavailable.ts'
import { readErrorCode } from '../xml.ts'
import { isToken, type TemporaryCredentials } from './credentials.ts'

export interface SourceRequest {
  /** What is asked, for errors. */
  readonly name: string
  readonly method?: 'GET' | 'PUT' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Milliseconds for all of it. */
  readonly timeout: number
}

const maxBytes = 65_536

/** Sends one request to a source of credentials and returns the text of its response, which is in no error: it may hold a secret. */
export async function requestSource(asked: SourceRequest, signal: AbortSignal): Promise<string> {
  const { name, method = 'GET', headers = {}, body = null, timeout } = asked
  const url = new URL(asked.url)
  // Not the guarded egress of callbacks: the operator or Amazon names these addresses. Used once an hour, so no connection is kept.
  const client = new Client(url.origin, { allowH2: false, connect: { timeout }, maxResponseSize: maxBytes })
  try {
    const response = await client.request({
      method,
      path: url.pathname + url.search,
      headers: { ...headers },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    })
    const text = await response.body.text()
    if (response.statusCode === 200) return text
    throw refuse(name, response.statusCode, readErrorCode(text))
  } catch (error) {
    if (error instanceof FilesUnavailable) throw error
    const { code, name: sort } = error as { code?: unknown; name?: string }
    const why = typeof code === 'string' ? code : (sort ?? 'unknown error')
    throw new FilesUnavailable('away', `${name} does not respond: ${why}`, error)
  } finally {
    await client.destroy()
  }
}

function refuse(name: string, status: number, code: string | undefined): FilesUnavailable {
  const isPassing = status >= 500 || status === 429 || status === 408
  const message = `${name} answered with ${status}${code === undefined ? '' : ` ${code}`}`
  return new FilesUnavailable(isPassing ? 'away' : 'refused', message)
}

/** Checks the members of a response. They are sent in headers, so they have no blanks and no line breaks. */
export function readCredentials(
  name: string,
  [accessKeyId, secretAccessKey, sessionToken, expiration]: readonly unknown[],
): TemporaryCredentials {
  const expires = expiration === undefined ? Infinity : Date.parse(String(expiration))
  const isRight = isToken(accessKeyId) && isToken(secretAccessKey) && !Number.isNaN(expires)
  if (!isRight || (sessionToken !== undefined && !isToken(sessionToken))) {
    throw new FilesUnavailable('refused', `${name} answered without credentials`)
  }
  return { accessKeyId, secretAccessKey, sessionToken, expires }
}

/** The form of containers and of instance metadata. */
export function readJsonCredentials(name: string, text: string): TemporaryCredentials {
  let found: Record<string, unknown> | null = null
  try {
    found = JSON.parse(text)
  } catch {
    // Not repeated in the error: it may be half of a secret.
  }
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = found ?? {}
  return readCredentials(name, [AccessKeyId, SecretAccessKey, Token, Expiration])
}
