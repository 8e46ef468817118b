import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../cluster/programs.ts'
import { until } from '../until.ts'

/** A systemd of its own, as process 1 of a container: this machine's files, on which nothing can be changed, and no network but loopback. */
export interface BootedSystem {
  /** Runs a program in it, and returns its standard output. */
  run(program: string, ...args: readonly string[]): Promise<string>
  stop(): Promise<void>
}

/** Boots it with some files and folders of this machine at other places, by their path there. Takes root, and Debian's systemd-container. */
export async function bootSystem(places: Readonly<Record<string, string>>): Promise<BootedSystem> {
  if (process.getuid?.() !== 0) throw new Error('only root can boot a container: repeat this as root')
  const program = await findProgram('systemd-nspawn', 'systemd-container')
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-booted-'))
  const view = join(folder, 'view')
  await mkdir(view)
  const args = [
    `--directory=${view}`,
    // What is written goes to memory, and is gone with the container.
    '--volatile=overlay',
    '--boot',
    '--private-network',
    '--register=no',
    '--keep-unit',
    '--link-journal=no',
    '--console=pipe',
    ...Object.entries(places).map(([there, here]) => `--bind-ro=${here}:${there}`),
    // None of the services of this machine.
    'systemd.unit=basic.target',
  ]
  // It refuses this machine's own root, so it gets that at another place, which only it sees.
  const script = 'mount --bind / "$0" && exec "$@"'
  const child = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, view, program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'exit')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)

  const run = async (name: string, ...rest: readonly string[]) => {
    const [first] = await listChildren(child.pid ?? 0)
    const { stdout } = await promisify(execFile)('nsenter', ['--target', String(first), '--all', name, ...rest])
    return stdout
  }
  const stop = async () => {
    // For systemd-nspawn this means an orderly end of all that runs in it.
    child.kill('SIGTERM')
    if (!hasEnded()) await ended
    process.off('exit', endWithUs)
    await rmdir(view)
    await rmdir(folder)
  }
  try {
    await until(async () => {
      if (hasEnded()) throw new Error(`the container ended: ${output}`)
      const state = await run('systemctl', 'is-active', 'basic.target').catch(() => '')
      return state.trim() === 'active'
    }, 'systemd has booted')
  } catch (error) {
    await stop()
    throw error
  }
  return { run, stop }
}

async function listChildren(pid: number): Promise<string[]> {
  const lists = (await readdir(`/proc/${pid}/task`)).map((task) =>
    readFile(`/proc/${pid}/task/${task}/children`, 'utf8'),
  )
  return (await Promise.all(lists)).join(' ').trim().split(/\s+/)
}
