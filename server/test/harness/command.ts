import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchHosted } from './hosted-command.ts'

const main = new URL('../../src/main.js', import.meta.url).pathname

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

type Environment = Readonly<Record<string, string>>
type Stream = 'stdout' | 'stderr'

export interface CommandOptions {
  readonly env?: Environment
  readonly cwd: string
}

/** A command that was started, in a process of its own or not. */
export interface Launched {
  readonly pid: number
  send(signal: NodeJS.Signals): void
  /** Describes its output and, at its end, the exit code, or why it is unknown. */
  follow(onOutput: (stream: Stream, text: string) => void, onEnd: (ending: number | null | Error) => void): void
}

type Launch = (args: readonly string[], options: CommandOptions) => Launched

/** Only what a command needs of this process's environment, without the settings of the machine that runs the tests. */
function environment(env: Environment = {}): Environment {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, XDG_RUNTIME_DIR: runtimeFolder, ...env }
}

/** Where servers note that they run: commands of one test find no servers of another. */
const runtimeFolder = join(tmpdir(), `switchboard-test-run-${process.pid}`)
process.on('exit', () => rmSync(runtimeFolder, { recursive: true, force: true }))

const launch: Launch = (args, { env, cwd }) => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return {
    pid: child.pid ?? 0,
    send: (signal) => void child.kill(signal),
    follow: (onOutput, onEnd) => {
      child.stdout.on('data', (chunk: Buffer) => onOutput('stdout', String(chunk)))
      child.stderr.on('data', (chunk: Buffer) => onOutput('stderr', String(chunk)))
      child.on('error', onEnd)
      child.on('close', (code) => onEnd(code))
    },
  }
}

const launchInHost: Launch = (args, { env, cwd }) => launchHosted({ do: 'run', args, env: environment(env), cwd })

/** Runs `switchboard …` to its end in a shared process, which takes a tenth of the time. */
export function runCommand(args: readonly string[], options: CommandOptions): Promise<Finished> {
  return collect(launchInHost(args, options))
}

/** Runs `switchboard …` to its end in a process of its own: when the test needs that, or it may not end by itself. */
export function runProcess(args: readonly string[], options: CommandOptions): Promise<Finished> {
  return collect(launch(args, options))
}

/** Starts `switchboard …` and kills it at the given moment; resolves when it has ended. */
export async function killCommand(
  args: readonly string[],
  options: CommandOptions,
  moment: Promise<unknown>,
): Promise<void> {
  const launched = launch(args, options)
  const finished = collect(launched)
  await Promise.race([moment, finished])
  launched.send('SIGKILL')
  const { code, stderr } = await finished
  if (code !== null) throw new Error(`the server ended by itself with ${code}: ${stderr}`)
}

export interface RunningServer {
  readonly pid: number
  readonly url: string
  readonly stdout: () => string
  readonly stderr: () => string
  /** Waits until its standard output, or its standard error, matches. */
  shows(pattern: RegExp): Promise<RegExpExecArray>
  /** Its end, whoever causes it. */
  readonly ended: Promise<Finished>
  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<Finished>
}

/** A database of a busy machine is waited for: only what never answers takes so long. */
const patient: Environment = { DATABASE_TIMEOUT: '4m', DATABASE_LOCK_TIMEOUT: '2m' }
const servingLine = /^switchboard listening on (\S+)$/m

/** Starts `switchboard serve …`, or another command that stays, and waits for its ready line and address. `onLaunch` comes before that. */
export function startCommand(
  args: readonly string[],
  {
    ready = servingLine,
    onLaunch,
    env,
    ...options
  }: CommandOptions & { ready?: RegExp; onLaunch?: (pid: number) => void },
): Promise<RunningServer> {
  const launched = launch(args, { ...options, env: { ...patient, ...env } })
  onLaunch?.(launched.pid)
  return start(launched, ready)
}

/** The same in a shared process, for a command that ends, leaves nothing behind and is not killed: not for servers. */
export function startHosted(
  args: readonly string[],
  { ready, ...options }: CommandOptions & { ready: RegExp },
): Promise<RunningServer> {
  return start(launchInHost(args, options), ready)
}

function start(launched: Launched, ready: RegExp): Promise<RunningServer> {
  const output = { stdout: '', stderr: '' }
  return new Promise((resolve, reject) => {
    const waiting = new Set<() => void>()
    const finished = collect(launched, (stream, text) => {
      output[stream] += text
      for (const look of waiting) look()
      const url = ready.exec(output[stream])?.[1]
      if (url === undefined) return
      resolve({
        pid: launched.pid,
        url,
        stdout: () => output.stdout,
        stderr: () => output.stderr,
        ended: finished,
        shows: (pattern) =>
          new Promise((found, failed) => {
            const look = () => {
              const match = pattern.exec(output.stdout) ?? pattern.exec(output.stderr)
              if (!match) return
              waiting.delete(look)
              found(match)
            }
            waiting.add(look)
            look()
            finished.then(
              () => failed(new Error(`it ended without ${pattern}: ${output.stdout}${output.stderr}`)),
              failed,
            )
          }),
        stop(signal) {
          launched.send(signal)
          return finished
        },
      })
    })
    finished.then(({ code, stderr }) => reject(new Error(`the server ended with ${code}: ${stderr}`)), reject)
  })
}

function collect(launched: Launched, onOutput?: (stream: Stream, text: string) => void): Promise<Finished> {
  const output = { stdout: '', stderr: '' }
  return new Promise((resolve, reject) => {
    launched.follow(
      (stream, text) => {
        output[stream] += text
        onOutput?.(stream, text)
      },
      (ending) => (ending instanceof Error ? reject(ending) : resolve({ code: ending, ...output })),
    )
  })
}
