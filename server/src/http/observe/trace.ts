import type { IncomingMessage } from 'node:http'
import type { Random } from '../../base/keys/random.ts'
import { readTraceparent, type SpanRef, writeSpan } from '../../telemetry/span-ids.ts'
import type { Spans } from '../../telemetry/spans.ts'

/** A request with its trace, for errors that are sent outside its route. */
export type TracedMessage = IncomingMessage & {
  trace?: string
  /** Its span, with its flags; undefined where nobody asks for it. */
  span?: string | undefined
  /** The span of its caller. */
  parent?: SpanRef | undefined
}

/** Gives a request its trace, the caller's own if it sent a well-formed one, and its span; returns the trace. */
export function traceRequest(request: TracedMessage, random: Random, spans: Pick<Spans, 'begin'> | undefined): string {
  const given = readTraceparent(request.headers.traceparent)
  const trace = given?.trace ?? random.trace()
  request.trace = trace
  request.parent = given?.parent
  request.span = spans ? spans.begin(trace, given?.parent) : passOn(given?.parent)
  return trace
}

/** Who exports nothing leaves it to the caller whether the trace is sampled. */
function passOn(parent: SpanRef | undefined): string | undefined {
  return parent?.isSampled === false ? writeSpan(parent) : undefined
}
