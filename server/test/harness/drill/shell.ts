import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const main = new URL('../../../src/main.js', import.meta.url).pathname
const page = new URL('../../../../docs/keeping.md', import.meta.url)

/** The commands of the one block in docs/keeping.md, below the heading of backups, that holds a text. */
export function commandsWith(text: string): string {
  const [, section = ''] = readFileSync(page, 'utf8').split('\n## Backup and restore\n')
  const [ofBackups = ''] = section.split('\n## ')
  const blocks = [...ofBackups.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, block = '']) => block)
  const [found, ...others] = blocks.filter((block) => block.includes(text))
  if (found === undefined || others.length > 0) {
    throw new Error(`docs/keeping.md has ${others.length === 0 ? 'no block' : 'several blocks'} with ${text}`)
  }
  return found
}

export type Environment = Readonly<Record<string, string>>

/** A shell in a folder where ./switchboard is, as in a clone. */
export class Shell {
  readonly folder: string
  readonly #programs: readonly string[]

  private constructor(folder: string, programs: readonly string[]) {
    this.folder = folder
    this.#programs = programs
  }

  /** `programs`: folders with what the commands call. */
  static async open(folder: string, programs: readonly string[] = []): Promise<Shell> {
    const file = join(folder, 'switchboard')
    await writeFile(
      file,
      `#!/bin/sh\nexec '${process.execPath}' --disable-warning=ExperimentalWarning '${main}' "$@"\n`,
    )
    await chmod(file, 0o755)
    return new Shell(folder, programs)
  }

  /** Runs commands one after the other, to the first that fails; returns what they print. */
  async run(commands: string, env: Environment): Promise<string> {
    const path = [...this.#programs, process.env['PATH'] ?? ''].join(delimiter)
    const options = { cwd: this.folder, env: { HOME: this.folder, ...env, PATH: path } }
    const { stdout } = await promisify(execFile)('sh', ['-euc', commands], options)
    return stdout
  }
}
