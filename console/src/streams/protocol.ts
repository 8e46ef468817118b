/** The streams of the service that pages can have: what operators see, and what happens on users' phones. */
export const streamNames = ['feed', 'phones'] as const
export type StreamName = (typeof streamNames)[number]

/** An event of a stream, as it was sent. */
export interface StreamEvent {
  readonly id: string | undefined
  readonly event: string
  readonly data: unknown
}

export type Link = 'connecting' | 'open' | 'lost'

/** What a page says to the hub. */
export type ToHub =
  /** It wants the events of a stream, behind the last one that it saw. */
  | { readonly type: 'join'; readonly stream: StreamName; readonly after: string | undefined }
  | { readonly type: 'leave'; readonly stream: StreamName }
  /** It is there; said at every change and every few seconds, because a page that crashed says nothing. */
  | { readonly type: 'here'; readonly isVisible: boolean }
  /** The session is good again. */
  | { readonly type: 'retry' }
  | { readonly type: 'bye' }

/** What the hub says to a page. */
export type ToPage =
  | { readonly type: 'welcome' }
  | { readonly type: 'event'; readonly stream: StreamName; readonly event: StreamEvent }
  /** What was sent before is not known here: read everything again. */
  | { readonly type: 'fresh'; readonly stream: StreamName }
  | { readonly type: 'link'; readonly stream: StreamName; readonly link: Link }
  /** The service refused the stream, most likely because the session has ended. */
  | { readonly type: 'refused' }
