import type { GraphError } from '../../../graph/graph-error.ts'
import { findAttributeProblem } from './attributes.ts'
import {
  sdpCarriageReturn,
  sdpEndsEarly,
  sdpLineEmpty,
  sdpOrderWrong,
  sdpTooManyLines,
  sdpValueMissing,
  sdpWithoutAudio,
  sdpWithoutConnection,
} from './errors.ts'
import { findValueProblem, type LineProblem, mustBe } from './lines.ts'

/**
 * Many times what browsers send. Each line is parsed, and thousands of short ones would keep all other requests waiting.
 */
export const maxSdpLines = 500

/** The line types that may follow each type above the first m= line (RFC 8866, 9); `start` is before the first line. */
const afterInSession: Readonly<Record<string, string>> = {
  start: 'v',
  v: 'o',
  o: 's',
  s: 'iuepcbt',
  i: 'uepcbt',
  u: 'epcbt',
  e: 'epcbt',
  p: 'pcbt',
  c: 'bt',
  b: 'bt',
  t: 'trkam',
  r: 'rztkam',
  z: 'tkam',
  k: 'am',
  a: 'am',
}

/** The same from an m= line on. */
const afterInMedia: Readonly<Record<string, string>> = {
  m: 'icbkam',
  i: 'cbkam',
  c: 'cbkam',
  b: 'bkam',
  k: 'am',
  a: 'am',
}

interface Section {
  readonly line: number
  readonly isAudio: boolean
  hasConnection: boolean
}

/**
 * Checks a session description against RFC 8866: the form of each line, their order, and what is required; and it must have audio,
 * which a voice call needs. Lines end in CRLF or LF; the last one may have no end.
 */
export function findSdpProblem(sdp: string): GraphError | undefined {
  const lines = splitLines(sdp)
  if (lines.length > maxSdpLines) return sdpTooManyLines({ line: maxSdpLines + 1, max: maxSdpLines })
  const session: Section = { line: 1, isAudio: false, hasConnection: false }
  const media: Section[] = []
  let previous = 'start'

  for (const [index, line] of lines.entries()) {
    const number = index + 1
    const section = media.at(-1) ?? session
    const isInMedia = section !== session
    const problem =
      findFormProblem(line) ??
      findOrderProblem(line.charAt(0), (isInMedia ? afterInMedia : afterInSession)[previous] ?? '', lines[index - 1]) ??
      findContentProblem(line, isInMedia)
    if (problem) return problem(number)

    previous = line.charAt(0)
    if (previous === 'm') {
      media.push({ line: number, isAudio: line.startsWith('m=audio '), hasConnection: false })
    }
    if (previous === 'c') section.hasConnection = true
  }

  return findMissing(lines.length, previous, session, media)
}

/** The lines; of too many only as many as show that there are. */
function splitLines(sdp: string): string[] {
  const lines = sdp.split(/\r?\n/, maxSdpLines + 2)
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines
}

function findFormProblem(line: string): LineProblem | undefined {
  if (line === '') return (number) => sdpLineEmpty({ line: number })
  if (line.includes('\r')) return (number) => sdpCarriageReturn({ line: number })
  if (!/^[a-z]=/.test(line)) return mustBe('a lower-case letter, "=" and a value, with no blank around the "="')
  if (line.length === 2) return (number) => sdpValueMissing({ line: number, start: line })
  return undefined
}

function findOrderProblem(type: string, allowed: string, before: string | undefined): LineProblem | undefined {
  if (allowed.includes(type)) return undefined
  const place = before === undefined ? 'at the start' : `after a line ${before.slice(0, 2)}`
  return (line) => sdpOrderWrong({ line, type, place, allowed: listTypes(allowed) })
}

function findContentProblem(line: string, isInMedia: boolean): LineProblem | undefined {
  const value = line.slice(2)
  if (line.startsWith('a=')) return findAttributeProblem(value, isInMedia)
  return findValueProblem(line.charAt(0), value)
}

/** A missing line is reported at the line that it should follow. */
function findMissing(
  lastLine: number,
  lastType: string,
  session: Section,
  media: readonly Section[],
): GraphError | undefined {
  const next = media.length === 0 ? (afterInSession[lastType] ?? '') : ''
  if (media.length === 0 && !next.includes('m')) {
    return sdpEndsEarly({ line: lastLine, allowed: listTypes(next) })
  }
  if (!media.some(({ isAudio }) => isAudio)) {
    return sdpWithoutAudio({ line: lastLine })
  }
  const unconnected = session.hasConnection ? undefined : media.find(({ hasConnection }) => !hasConnection)
  return unconnected && sdpWithoutConnection({ line: unconnected.line })
}

/** `iuet` → `i=, u=, e= or t=` */
function listTypes(types: string): string {
  return [...types]
    .map((type) => `${type}=`)
    .join(', ')
    .replace(/, (\w=)$/, ' or $1')
}
