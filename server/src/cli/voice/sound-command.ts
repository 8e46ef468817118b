import { setTimeout as pause } from 'node:timers/promises'
import { parseDuration } from '../../base/time/duration.ts'
import { onEndingSignals } from '../ending-signals.ts'
import { CommandFailed } from '../fail.ts'
import { ask, type Remote } from '../remote.ts'
import { configFrom } from '../store.ts'
import { loadVoice } from './load-voice.ts'

/** How long sockets of a finished call may keep the process, before it ends all the same. */
const lingerMs = 300

/** A request of a call must not be waited for for minutes, and one that is lost is sent again. */
const requestTimeoutMs = 10_000

/** How long a server may take to hear that a command ends, before it ends all the same. */
const farewellMs = 1600

/** What every command with sound needs. */
export interface SoundContext {
  readonly client: Remote['client']
  readonly iceServers: ReturnType<typeof configFrom>['iceServers']
  readonly output: { out(line: string): void; problem(line: string): void }
  /** Resolves at the first Ctrl-C or SIGTERM. */
  readonly stopped: Promise<void>
}

/** Runs a command that carries sound, and ends the process with the code that it returns. */
export async function runSoundCommand(
  remote: Remote,
  run: (voice: Awaited<ReturnType<typeof loadVoice>>, context: SoundContext) => Promise<number>,
): Promise<void> {
  const voice = await loadVoice()
  const stopped = new Promise<void>((resolve) => onEndingSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], () => resolve()))
  const client = remote.client.withOptions({ timeout: requestTimeoutMs, maxRetries: 2 })
  const output = { out: writeLine(process.stdout), problem: writeLine(process.stderr) }
  const { iceServers } = configFrom({})
  const late = stopped.then(async () => {
    await pause(farewellMs)
    throw new CommandFailed(`${remote.url} does not answer: a call that was open there may still be`)
  })
  try {
    const asked = ask(remote, () => run(voice, { client, iceServers, output, stopped }))
    process.exitCode = await Promise.race([asked, late])
  } catch (error) {
    throw error instanceof voice.VoiceError ? new CommandFailed(error.message) : error
  } finally {
    setTimeout(() => process.exit(), lingerMs).unref()
  }
}

function writeLine(stream: NodeJS.WriteStream): (line: string) => void {
  return (line) => stream.write(`${line}\n`)
}

/** A number that a flag gives, within its bounds. */
export function readNumber(flag: string, text: string | undefined, [min, max]: readonly [number, number]) {
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() === '' || !(number >= min && number <= max)) {
    throw new CommandFailed(`${flag} ${text} is not a number from ${min} to ${max}`)
  }
  return number
}

/** The same for a port, which has no fraction. */
export function readPort(text: string | undefined): number | undefined {
  const port = readNumber('--port', text, [0, 65_535])
  if (port !== undefined && !Number.isInteger(port)) throw new CommandFailed(`--port ${text} is not a whole number`)
  return port
}

export function readDuration(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined) throw new CommandFailed(`${flag} ${text} is no duration: write 5s, 500ms or 2m`)
  return milliseconds
}
