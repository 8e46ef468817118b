import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const gibibyte = 2 ** 30
/** The file system in memory that Linux has; a container often has a very small one. */
const memoryFileSystem = '/dev/shm'
/** A run takes about half a gibibyte at most. */
const neededSpace = 2 * gibibyte
/** What the tests themselves need comes on top. */
const neededMemory = 4 * gibibyte

/**
 * Makes the folder that holds everything tests write: in memory where there is enough of it. A copy of a PostgreSQL database is
 * 600 files, and hundreds of copies are made and dropped; on a disk that was a sixth of the processor time of all tests.
 */
export async function makeTestFolder(fast: string = memoryFileSystem): Promise<string> {
  const folder = (await makeFastFolder(fast)) ?? (await mkdtemp(join(tmpdir(), 'switchboard-test-')))
  // PostgreSQL runs as another user when this is root, and makes and removes its own folder in there.
  await chmod(folder, 0o1777)
  return folder
}

async function makeFastFolder(parent: string): Promise<string | undefined> {
  if (process.availableMemory() < neededMemory) return undefined
  let folder: string | undefined
  try {
    const { bavail, bsize } = await statfs(parent)
    if (bavail * bsize < neededSpace) return undefined
    folder = await mkdtemp(join(parent, 'switchboard-test-'))
    // Tests run programs from it, which the options of a mount may forbid.
    const program = join(folder, 'program')
    await writeFile(program, '#!/bin/sh\n', { mode: 0o755 })
    await promisify(execFile)(program)
    await rm(program)
    return folder
  } catch {
    if (folder) await rm(folder, { recursive: true, force: true })
    return undefined
  }
}
