/** A span as those below it name it: a traceparent without its trace. */
export interface SpanRef {
  /** 16 hexadecimal digits. */
  readonly id: string
  /** Whether it is exported, or is for its tracing tool to export. */
  readonly isSampled: boolean
}

const idLength = 16
/** `00-<trace id>-<parent id>-<flags>` of the W3C; all zeros is no id. */
const traceparent = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/

/** The trace of a caller, and its span; undefined for a header that is not well-formed. */
export function readTraceparent(
  header: string | string[] | undefined,
): { readonly trace: string; readonly parent: SpanRef } | undefined {
  const [, trace, id, flags = ''] = (typeof header === 'string' && traceparent.exec(header)) || []
  if (trace === undefined || id === undefined) return undefined
  return { trace, parent: { id, isSampled: (Number.parseInt(flags, 16) & 1) === 1 } }
}

export function writeTraceparent(trace: string, span: SpanRef): string {
  return `00-${trace}-${writeSpan(span)}`
}

/** As events and timers keep it. */
export function writeSpan({ id, isSampled }: SpanRef): string {
  return `${id}-${isSampled ? '01' : '00'}`
}

export function readSpan(text: string): SpanRef {
  return { id: text.slice(0, idLength), isSampled: isSampled(text) }
}

/** One that is not known is: a trace whose sampling nobody has decided is kept, as `/operator/traces` keeps it. */
export function isSampled(span: string | null): boolean {
  return span === null || span.endsWith('1')
}

/** The span that stands for a delivery in the traceparent of its posts. */
export function nameSpan(delivery: number): string {
  return delivery.toString(idLength).padStart(idLength, '0')
}

/** The first digits of a random trace. */
export function cutSpanId(trace: string): string {
  return trace.slice(0, idLength)
}
