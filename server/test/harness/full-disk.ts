import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A folder whose disk space can be taken from a process, and given back. */
export interface TightFolder {
  readonly path: string
  /** From now on the disk is full for the process. */
  fill(pid: number): Promise<void>
  /** From now on it is not. */
  empty(pid: number): Promise<void>
  remove(): Promise<void>
}

/** Linux can lower the file size limit of a running process of any owner. Writes then fail with EFBIG. */
export async function makeLimitedFolder(maxBytes: number): Promise<TightFolder> {
  const path = await mkdtemp(join(tmpdir(), 'switchboard-limited-'))
  const limit = (pid: number, size: string) => run('prlimit', ['--pid', String(pid), `--fsize=${size}:`])
  return {
    path,
    async fill(pid) {
      await limit(pid, String(maxBytes))
    },
    async empty(pid) {
      await limit(pid, 'unlimited')
    },
    remove: () => rm(path, { recursive: true, force: true }),
  }
}

/** A separate file system, which only root may mount. Writes fail with ENOSPC when it is full. */
export async function makeSmallFileSystem(mebibytes: number): Promise<TightFolder> {
  const path = await mkdtemp(join(tmpdir(), 'switchboard-small-'))
  await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path])
  const ballast = join(path, 'ballast')
  await mkdir(join(path, 'data'))
  return {
    path: join(path, 'data'),
    fill: () => fillUp(ballast),
    empty: () => rm(ballast),
    async remove() {
      await run('umount', [path])
      await rm(path, { recursive: true, force: true })
    },
  }
}

/** Whether this machine lets this user mount: a container mostly does not, even to root. */
export function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const path = mkdtempSync(join(tmpdir(), 'switchboard-mount-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path], { stdio: 'ignore' })
  if (status === 0) spawnSync('umount', [path], { stdio: 'ignore' })
  rmdirSync(path)
  return status === 0
}

/** To the last byte, with ever smaller pieces. */
async function fillUp(file: string): Promise<void> {
  const handle = await open(file, 'a')
  try {
    for (let size = 1 << 20; size >= 1; ) {
      try {
        await handle.write(Buffer.alloc(size))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        size = Math.floor(size / 16)
      }
    }
  } finally {
    await handle.close()
  }
}
