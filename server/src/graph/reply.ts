import type { Readable } from 'node:stream'
import type { TSchema } from 'typebox'
import type { PushBody } from '../stream/push-event.ts'

/** A response that is not an object of the API: a page, an image, the bytes of a file. */
export class Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | number | string[]>>
  readonly body: string | Uint8Array | Readable | undefined
  /** Additional members of the log line; not part of the response. */
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

/** The content of a response in the OpenAPI document, by content type. */
export type ReplyContent = Readonly<Record<string, TSchema>>

/** A response that goes on. */
export class PushReply {
  readonly headers: Reply['headers']
  readonly body: PushBody

  constructor(headers: Reply['headers'], body: PushBody) {
    this.headers = headers
    this.body = body
  }
}

/** Of a stream of Server-Sent Events. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'private, no-store',
  // A proxy that collects the response would hold events back.
  'x-accel-buffering': 'no',
}
