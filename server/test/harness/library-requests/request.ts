/** A request as a client library sends it, and what the public platform responds. Text in braces stands for a value of the test. */
export interface LibraryRequest {
  /** What the caller of the library does. */
  readonly does: string
  /** Method, path and query, without the version. */
  readonly call: `${'GET' | 'POST' | 'DELETE'} /${string}`
  /** Instead of that of the library; an empty text for none. */
  readonly version?: string
  /** How the token is sent, if not as a bearer: as an older scheme, in the query, or another one that is not known. */
  readonly token?: 'oauth' | 'query' | 'unknown'
  /** Besides those of the library. */
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: Readonly<Record<string, unknown>>
  readonly form?: Readonly<Record<string, string>>
  readonly parts?: readonly Part[]
  /** The body is the picture itself. */
  readonly bytes?: 'picture'
  /** 200 if left out. */
  readonly status?: number
  /** Members of the response, with patterns for texts that the platform makes. */
  readonly responds?: Readonly<Record<string, unknown>>
  /** Values of the response that later requests name, by the path to them: `{ media: 'id' }`. */
  readonly keeps?: Readonly<Record<string, string>>
}

/** One part of a multipart body: its headers as the library writes them, and its text or the picture. */
export interface Part {
  readonly head: readonly string[]
  readonly text?: string
}

/** A client library, by how it speaks. */
export interface LibraryRequests {
  readonly library: string
  /** By default, in its path. */
  readonly version: string
  /** On every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly requests: readonly LibraryRequest[]
}

/** The response to a message that was taken. */
export const sent = {
  messaging_product: 'whatsapp',
  contacts: [{ input: '{user}', wa_id: '{user}' }],
  messages: [{ id: /^wamid\./ }],
}

export const success = { success: true }

/** The envelope of a refusal. */
export function refused(code: number, more: object = {}): Readonly<Record<string, unknown>> {
  return { error: { code, message: new RegExp(`^\\(#${code}\\) `), fbtrace_id: /./, ...more } }
}

/** A file part with the picture. */
export function picture(disposition: string, ...more: string[]): Part {
  return { head: [`Content-Disposition: form-data; ${disposition}`, ...more] }
}

export function field(name: string, text: string, ...more: string[]): Part {
  return { head: [`Content-Disposition: form-data; name="${name}"`, ...more], text }
}

/** A message to the user, in the order in which most libraries write its members. */
export function message(does: string, type: string, content: unknown, more: object = {}): LibraryRequest {
  const json = {
    ...{ messaging_product: 'whatsapp', recipient_type: 'individual', to: '{user}', type, [type]: content },
    ...more,
  }
  return { does, call: 'POST /{phone}/messages', json, responds: sent }
}
