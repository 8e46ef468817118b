import { styleText } from 'node:util'
import { day } from '../../base/time/duration.ts'
import { describeEvents } from './event-lines.ts'
import type { Forwarded } from './forward.ts'

/** A body that arrived or was stored, with its time and the result of checking its signatures. */
interface Shown {
  readonly body: Buffer
  /** The signing conventions that failed; undefined when it was not posted, so there is nothing to check. */
  readonly bad: readonly string[] | undefined
  readonly time: number
}

export interface ListenOutput {
  show(shown: Shown): void
  showForwarded(target: URL, name: string, forwarded: Forwarded): void
}

/** A line for every event. */
export const lineOutput: ListenOutput = {
  show({ body, bad, time }) {
    const start = `${styleText('dim', writeClock(time))} ${writeMark(bad)}`
    const events = describeEvents(parse(body))
    if (events.length === 0) process.stdout.write(`${start} a post that holds no event\n`)
    for (const { field, account, number, summary } of events) {
      process.stdout.write(
        `${start} ${styleText('cyan', field)} ${styleText('dim', `account ${account} number ${number}`)} ${summary}\n`,
      )
    }
  },
  showForwarded(target, name, forwarded) {
    process.stdout.write(`${writeForwarded(target, name, forwarded)}\n`)
  },
}

/** Only the body on standard output, for other programs; the checks on standard error. */
export const jsonOutput: ListenOutput = {
  show({ body, bad }) {
    const parsed = parse(body)
    process.stderr.write(`${writeMark(bad)}\n`)
    const isExact = bad === undefined || bad.length === 0
    if (parsed !== undefined) process.stdout.write(`${isExact ? body : JSON.stringify(parsed)}\n`)
  },
  showForwarded(target, name, forwarded) {
    say(writeForwarded(target, name, forwarded))
  },
}

function writeForwarded({ href }: URL, name: string, { status, problem, duration }: Forwarded): string {
  const result = status === undefined ? `✗ ${problem}` : String(status)
  const isTaken = status !== undefined && status >= 200 && status < 300
  return `         ${styleText(isTaken ? 'green' : 'red', `→ ${result}`)} from ${printable(href)} in ${duration} ms, ${printable(name)}`
}

function writeMark(bad: readonly string[] | undefined): string {
  if (bad === undefined) return styleText('dim', '·')
  return bad.length === 0 ? styleText('green', '✓') : styleText('red', `✗ (${bad.join(', ')} wrong)`)
}

/** The time of day; for another day with its date. */
function writeClock(time: number): string {
  const text = new Date(time).toISOString()
  return Date.now() - time < day ? text.slice(11, 19) : text.slice(0, 19)
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ')
}

export function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
