import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Program } from './find-server.ts'

export type Settings = Readonly<Record<string, string>>

const readyLine = /^switchboard listening on (\S+)$/m
/** A start takes less than a second where the server was packed, and some seconds the first time. */
const timeoutMs = 60_000

/** A server that runs in a process of its own. */
export interface RunningServer {
  readonly url: string
  readonly pid: number
  /** Resolves when it is gone: how it ended. */
  readonly ended: Promise<string>
  /** The last part of what it has logged since a moment, which `logged` gave. */
  log(since?: number): string
  /** How much it has logged so far. */
  readonly logged: number
  /** Lets it end by itself, so that its store is whole. */
  stop(): Promise<void>
  /** Ends it at once; its folder goes with it. */
  discard(): Promise<void>
}

export interface ServerPlace {
  readonly command: Program
  readonly dataDir: string
  readonly settings: Settings
  /** Removed when the process that started the server is gone. */
  readonly folder: string
  /** Whether the folder stays when the server was stopped. */
  readonly stays?: boolean
}

/** Starts a server and waits until it serves. */
export async function startServer(place: ServerPlace, flags: readonly string[] = []): Promise<RunningServer> {
  const { dataDir, folder } = place
  const child = run(place, ['serve', '--port', '0', '--host', '127.0.0.1', '--data', dataDir, ...flags])
  const ended = new Promise<string>((resolve) => child.once('exit', (code, signal) => resolve(String(signal ?? code))))
  const output = { text: '', length: 0 }
  let timer: ReturnType<typeof setTimeout> | undefined
  const url = await new Promise<string>((resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`the server was not ready in time:\n${output.text}`))
      child.kill('SIGKILL')
    }, timeoutMs)
    const note = (chunk: unknown) => {
      output.length += String(chunk).length
      output.text = `${output.text}${chunk}`.slice(-20_000)
      const found = readyLine.exec(output.text)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout?.on('data', note)
    child.stderr?.on('data', note)
    child.once('error', (error) => reject(new Error(`the server could not be started: ${error.message}`)))
    void ended.then((how) => reject(new Error(`the server ended with ${how}:\n${output.text}`)))
  }).finally(() => clearTimeout(timer))
  // The tests end when they are done, whether or not they closed it: then its pipe closes, and it ends too.
  child.unref()
  for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as unknown as { unref(): void }).unref()
  const end = async (how: () => void) => {
    child.ref()
    how()
    await ended
  }
  return {
    url,
    pid: child.pid ?? 0,
    ended,
    log: (since = 0) => output.text.slice(Math.max(0, output.text.length - (output.length - since))),
    get logged() {
      return output.length
    },
    stop: () => end(() => child.kill('SIGTERM')),
    discard: async () => {
      await end(() => child.stdin?.end())
      // A server that was killed could not do it itself.
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Runs a command of the server to its end. */
export async function runCommand(place: ServerPlace, args: readonly string[]): Promise<void> {
  const child = run(place, [...args, '--data', place.dataDir])
  let text = ''
  child.stdout?.on('data', (chunk) => {
    text += chunk
  })
  child.stderr?.on('data', (chunk) => {
    text += chunk
  })
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  if (code !== 0) throw new Error(`switchboard ${args.join(' ')} ended with ${code}:\n${text}`)
}

function run({ command, dataDir, settings, folder, stays }: ServerPlace, args: readonly string[]): ChildProcess {
  const [program, ...first] = command
  const guard = new URL(import.meta.url.endsWith('.ts') ? './guard.ts' : './guard.js', import.meta.url).href
  return spawn(program, [...first, ...args], {
    // World files and settings are those that were given, not those of the project that is tested.
    cwd: dirname(dataDir),
    env: {
      ...pick(process.env, ofSystem),
      // Where a project says which registry to ask.
      INIT_CWD: process.env['INIT_CWD'] ?? process.cwd(),
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
      // The store that others are copied from may be two weeks old, which is no reason to keep what is old.
      CLOCK_JUMP: '100000d',
      ...settings,
      // Only the server's own processes have the folder, so that nothing else is guarded.
      SWITCHBOARD_TESTING_FOLDER: folder,
      ...(stays && { SWITCHBOARD_TESTING_STAYS: 'yes' }),
      NODE_OPTIONS: `--import=${guard}`,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

/** What programs need of the system, and what npm needs to reach its registry: on an old Node.js the server fetches a newer one. */
const ofSystem =
  /^(?:PATH|HOME|SystemRoot|USERPROFILE|LOCALAPPDATA|TEMP|TMP|XDG_CACHE_HOME|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(?:HTTPS?|NO)_PROXY|npm_(?:execpath|config_\w+))$/i

function pick(env: NodeJS.ProcessEnv, names: RegExp): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.test(name)))
}
