import type { FuzzedOperation } from './document.ts'
import type { FuzzRequest } from './requests.ts'
import type { FuzzResult } from './run.ts'
import type { FuzzFailure } from './sending.ts'
import type { Memory } from './server.ts'

/** A shell that repeats a request: bytes that cannot stand in a line go through printf. */
export function writeCurl(url: string, { request }: FuzzFailure): string {
  if (!request) return `curl -i '${url}/readyz'`
  const bytes = request.play?.bytes ?? request.bytes
  if (bytes) {
    const { hostname, port } = new URL(url)
    return `printf '${escapeBytes(bytes)}' | nc ${hostname} ${port}${describePlay(request)}`
  }
  const headers = request.headers.map(([name, value]) => `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`)
  const head = ['curl -i --path-as-is -g', `-X ${request.method}`, ...headers]
  if (!request.body) return [...head, quote(url + request.target)].join(' ')
  const body = `printf '${escapeBytes(request.body)}'`
  return [body, '|', ...head, '--data-binary @-', quote(url + request.target)].join(' ')
}

function describePlay({ play }: FuzzRequest): string {
  if (!play) return ''
  return `  # ${play.pieces.length + 1} writes (${play.pieces.slice(0, 6).join(', ')}…), then ${play.ending}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function escapeBytes(bytes: Buffer): string {
  const shown = bytes.subarray(0, 20_000)
  return [...shown]
    .map((byte) =>
      byte < 0x20 || byte > 0x7e || "\\%'".includes(String.fromCharCode(byte))
        ? octal(byte)
        : String.fromCharCode(byte),
    )
    .join('')
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`
}

export function writeFailure(url: string, seed: number, failure: FuzzFailure): string {
  const which = failure.number === undefined ? 'at the end' : `request ${failure.number} of --seed ${seed}`
  const lines = failure.problems.map((problem) => `  ${problem}`)
  return [
    `${which}: ${failure.request?.operation?.name ?? 'no operation'}`,
    ...lines,
    `  ${writeCurl(url, failure)}`,
  ].join('\n')
}

/** How much may be in use at the end beyond what was in the second quarter: less than any leak of a byte in each request a hundred. */
export const allowedGrowth = { heap: 8_000_000, rss: 48_000_000 }

/** Whether memory stayed what it was; in words, if it did not. */
export function findGrowth(memory: readonly Pick<Memory, 'heap' | 'rss'>[]): string[] {
  // The run was over before there was anything to compare.
  if (memory.length < 4) return []
  const quarter = memory.length / 4
  const second = memory.slice(Math.floor(quarter), Math.floor(2 * quarter))
  const last = memory.slice(Math.floor(3 * quarter))
  return (['heap', 'rss'] as const).flatMap((kind) => {
    const growth = median(last.map((one) => one[kind])) - median(second.map((one) => one[kind]))
    if (growth <= allowedGrowth[kind]) return []
    return [`${kind} grew by ${growth} bytes from the second to the last quarter; ${allowedGrowth[kind]} are allowed`]
  })
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const value = sorted[Math.floor(sorted.length / 2)]
  if (value === undefined) throw new Error('there is no median of nothing')
  return value
}

export function countAnswers({ answers }: FuzzResult, matches: (mood: string, status: string) => boolean): number {
  const counts = [...answers.values()].flatMap((statuses) => [...statuses])
  return counts.reduce((sum, [key, count]) => (matches(...(key.split(' ') as [string, string])) ? sum + count : sum), 0)
}

/** The operations that never did what they were asked to. */
export function findUnreached({ answers, operations }: FuzzResult): FuzzedOperation[] {
  return operations.filter(({ name }) => ![...(answers.get(name)?.keys() ?? [])].some((key) => key.endsWith(' 200')))
}
