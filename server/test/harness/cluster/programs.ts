import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, constants, readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Where Debian puts servers, which is not on the path of every user. */
const moreFolders = ['/usr/sbin', '/usr/local/sbin', '/sbin']
const readyWithin = 30_000

/**
 * The path of a program of the system. Where it is missing, root installs its package with apt-get; otherwise this says what to do.
 */
export async function findProgram(name: string, packageName = name): Promise<string> {
  const found = await lookFor(name)
  if (found) return found
  await installPackage(packageName)
  const installed = await lookFor(name)
  if (installed) return installed
  throw new Error(
    `${name} is not installed, and could not be: install it (on Debian: apt-get install ${packageName}), then repeat this`,
  )
}

/** Does nothing where that is not possible. */
export async function installPackage(packageName: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const install = `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${packageName}`
  await promisify(execFile)('sh', ['-c', install], { env }).catch(() => undefined)
}

async function lookFor(name: string): Promise<string | undefined> {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), ...moreFolders]) {
    const path = join(folder, name)
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}

/** A free port, for a program that must find the same one again after it was killed. */
export async function takePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export interface ProgramOptions {
  /** Root starts it as a user who may do nothing. */
  readonly isUnprivileged?: boolean
  /** Where it runs and what counts as its home: a folder that its user can read. */
  readonly folder?: string
}

/** A program of the system that listens on a port and can be killed and started again. */
export class Program {
  readonly #path: string
  readonly #args: readonly string[]
  readonly #port: number
  readonly #options: ProgramOptions
  #child: ChildProcess | undefined
  #output = ''

  constructor(path: string, args: readonly string[], port: number, options: ProgramOptions = {}) {
    this.#path = path
    this.#args = args
    this.#port = port
    this.#options = options
  }

  /** The process that was started last. */
  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** The last of what it has printed. */
  get output(): string {
    return this.#output
  }

  async start(): Promise<this> {
    const { isUnprivileged, folder } = this.#options
    const user = isUnprivileged && process.getuid?.() === 0 ? await findNobody() : {}
    const place = folder === undefined ? {} : { cwd: folder, env: { ...process.env, HOME: folder } }
    const child = spawn(this.#path, this.#args, { stdio: ['ignore', 'pipe', 'pipe'], ...user, ...place })
    this.#child = child
    // Whatever ends this process must not leave it behind.
    const endWithUs = () => child.kill('SIGKILL')
    process.once('exit', endWithUs)
    child.once('exit', () => process.off('exit', endWithUs))
    for (const pipe of [child.stdout, child.stderr]) {
      pipe.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + String(chunk)).slice(-8192)
      })
    }
    const deadline = performance.now() + readyWithin
    while (!(await answers(this.#port))) {
      if (child.exitCode !== null || performance.now() > deadline) {
        throw new Error(`${this.#path} does not listen on ${this.#port}: ${this.#output}`)
      }
      await wait(20)
    }
    return this
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

export async function findNobody(): Promise<{ uid: number; gid: number }> {
  const line = /^nobody:[^:]*:(\d+):(\d+):/m.exec(await readFile('/etc/passwd', 'utf8'))
  return { uid: Number(line?.[1] ?? 65_534), gid: Number(line?.[2] ?? 65_534) }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
