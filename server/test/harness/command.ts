import { type ChildProcess, spawn } from 'node:child_process'

const main = new URL('../../src/main.ts', import.meta.url).pathname

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

export interface RunningServer {
  readonly pid: number
  readonly url: string
  readonly stdout: () => string
  readonly stderr: () => string
  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<Finished>
}

/** Starts `switchboard serve …` and waits until it says that it is ready. */
export function startCommand(
  args: readonly string[],
  { env = {}, cwd }: { env?: Environment; cwd: string },
): Promise<RunningServer> {
  const child = launch(args, env, cwd)
  const output = { stdout: '', stderr: '' }
  const finished = collect(child)
  child.stderr?.on('data', (chunk: Buffer) => {
    output.stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output.stdout += chunk
      const url = /^switchboard listening on (\S+)$/m.exec(output.stdout)?.[1]
      if (url === undefined) return
      resolve({
        pid: child.pid ?? 0,
        url,
        stdout: () => output.stdout,
        stderr: () => output.stderr,
        stop(signal) {
          child.kill(signal)
          return finished
        },
      })
    })
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
