import type { Readable } from 'node:stream'
import type { TSchema } from 'typebox'

/** A response that is not an object of the API: a page, a picture, the bytes of a file. */
export class Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: string | Uint8Array | Readable | undefined
  /** What the log line says besides; the response does not. */
  readonly fault: string | undefined

  constructor(
    headers: Reply['headers'],
    body: Reply['body'],
    { status = 200, fault }: { status?: number; fault?: string | undefined } = {},
  ) {
    this.status = status
    this.headers = headers
    this.body = body
    this.fault = fault
  }
}

/** The content of a response, as the OpenAPI document describes it, by content type. */
export type ReplyContent = Readonly<Record<string, TSchema>>
