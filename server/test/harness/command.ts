import { type ChildProcess, spawn } from 'node:child_process'

const main = new URL('../../src/main.js', import.meta.url).pathname

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

type Environment = Readonly<Record<string, string>>

/** Only what a command needs of this process's environment: settings of the machine that runs the tests stay out. */
function environment(env: Environment): Environment {
  return { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env }
}

function launch(args: readonly string[], env: Environment, cwd: string): ChildProcess {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Runs `switchboard …` to its end. */
export function runCommand(
  args: readonly string[],
  { env = {}, cwd }: { env?: Environment; cwd: string },
): Promise<Finished> {
  return collect(launch(args, env, cwd))
}

/** Starts `switchboard …` and kills it when the moment has come, whatever it is at; returns when it has ended. */
export async function killCommand(
  args: readonly string[],
  { env = {}, cwd }: { env?: Environment; cwd: string },
  moment: Promise<unknown>,
): Promise<void> {
  const child = launch(args, env, cwd)
  const finished = collect(child)
  await Promise.race([moment, finished])
  child.kill('SIGKILL')
  const { code, stderr } = await finished
  if (code !== null) throw new Error(`the server ended by itself with ${code}: ${stderr}`)
}

export interface RunningServer {
  readonly pid: number
  readonly url: string
  readonly stdout: () => string
  readonly stderr: () => string
  /** Waits until what it has written to standard output, or to standard error, matches. */
  shows(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<Finished>
}

const servingLine = /^switchboard listening on (\S+)$/m

/** Starts `switchboard serve …`, or another command that stays, and waits until it says that it is ready, and where. */
export function startCommand(
  args: readonly string[],
  { env = {}, cwd, ready = servingLine }: { env?: Environment; cwd: string; ready?: RegExp },
): Promise<RunningServer> {
  const child = launch(args, env, cwd)
  const output = { stdout: '', stderr: '' }
  const finished = collect(child)
  return new Promise((resolve, reject) => {
    const waiting = new Set<() => void>()
    const note = (stream: keyof typeof output) => (chunk: Buffer) => {
      output[stream] += chunk
      for (const look of waiting) look()
      const url = ready.exec(output[stream])?.[1]
      if (url === undefined) return
      resolve({
        pid: child.pid ?? 0,
        url,
        stdout: () => output.stdout,
        stderr: () => output.stderr,
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
          child.kill(signal)
          return finished
        },
      })
    }
    child.stdout?.on('data', note('stdout'))
    child.stderr?.on('data', note('stderr'))
    finished.then(({ code, stderr }) => reject(new Error(`the server ended with ${code}: ${stderr}`)), reject)
  })
}

function collect(child: ChildProcess): Promise<Finished> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}
