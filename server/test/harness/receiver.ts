import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { snippets } from '../../../console/src/pages/connect/snippets.ts'
import { findProgram } from './cluster/programs.ts'
import { until } from './until.ts'

export async function findFreePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

function canConnect(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(port, '127.0.0.1')
  socket.once('connect', () => resolve(true))
  socket.once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

/** A receiver of webhooks that runs as its page shows it. */
export interface Receiver {
  readonly url: string
  shows(pattern: RegExp): Promise<void>
  output(): string
  stop(): Promise<void>
}

/** Where Debian's package of a program has another name. */
const packages: Readonly<Record<string, string>> = { go: 'golang-go', php: 'php-cli' }

/** Saves a snippet as it stands and starts it. Where its language is missing, root installs it; nobody else can go on. */
export async function startReceiver(t: TestContext, name: string, env: Record<string, string>): Promise<Receiver> {
  const snippet = snippets.find((one) => one.name === name)
  assert.ok(snippet)
  const folder = await mkdtemp(join(tmpdir(), 'receiver-'))
  const port = await findFreePort()
  await writeFile(join(folder, snippet.file), snippet.text)
  const [program = '', ...args] = snippet.command.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`).split(' ')
  const path = program === 'node' ? process.execPath : await findProgram(program, packages[program])
  const child = spawn(path, args, {
    cwd: folder,
    env: { ...process.env, ...env, RECEIVER_PORT: String(port), GOCACHE: join(folder, 'cache') },
    detached: true,
  })
  let output = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk)
      for (const listener of listeners) listener()
    })
  }
  t.after(async () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const shows = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (pattern.test(output)) resolve()
      }
      listeners.add(look)
      child.once('exit', () => reject(new Error(`it ended: ${output}`)))
      look()
    })
  await shows(/listening|Development Server/i)
  // One that says so just before it does, as Go's does, is not there yet.
  await until(() => canConnect(port), 'the receiver takes connections')
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    process.kill(-(child.pid ?? 0), 'SIGKILL')
    await ended
  }
  return { url: `http://127.0.0.1:${port}/`, shows, output: () => output, stop }
}
