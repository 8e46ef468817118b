import { access, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPackage } from '../cluster/programs.ts'

const folders = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/local/lib', '/usr/lib']

/** The clock of real processes, which a test sets as somebody sets that of a machine: by libfaketime. Monotonic time goes on as it is. */
export class SetClock {
  readonly #folder: string
  readonly #library: string

  private constructor(folder: string, library: string) {
    this.#folder = folder
    this.#library = library
  }

  static async make(): Promise<SetClock> {
    const library = (await findLibrary()) ?? (await installPackage('libfaketime').then(findLibrary))
    if (library === undefined) throw new Error('libfaketime is not installed (on Debian: apt-get install libfaketime)')
    const clock = new SetClock(await mkdtemp(join(tmpdir(), 'switchboard-clock-')), library)
    await clock.setAhead('0')
    return clock
  }

  /** The environment of a process that goes by this clock. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: join(this.#folder, 'offset'),
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }

  /** `time`: such as `10m` or `4d`, or `0`. */
  async setAhead(time: string): Promise<void> {
    const next = join(this.#folder, 'next')
    await writeFile(next, `+${time}\n`)
    await rename(next, join(this.#folder, 'offset'))
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}

async function findLibrary(): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, 'faketime/libfaketime.so.1')
    const isThere = await access(path).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}
