import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export const root = dirname(import.meta.dirname)
export const run = promisify(execFile)

export interface Ending {
  code: number | null
  stdout: string
  stderr: string
}

/**
 * A project like this one, with the real npm, the real ./switchboard and scripts/install.mjs, and packages that lie beside it: one
 * that every run needs, the pinned Node.js, and one for developing. Its server prints how it was called.
 */
export class SampleProject {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async make(): Promise<SampleProject> {
    const project = new SampleProject(await realpath(await mkdtemp(join(tmpdir(), 'switchboard-install-'))))
    await project.#fill()
    return project
  }

  /** Another one with the same content, nothing installed. */
  async copy(): Promise<SampleProject> {
    const folder = await mkdtemp(`${this.folder}-`)
    await cp(this.folder, folder, { recursive: true, verbatimSymlinks: true })
    return new SampleProject(folder)
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true })
  }

  path(...names: string[]): string {
    return join(this.folder, ...names)
  }

  has(name: string): boolean {
    return existsSync(this.path('node_modules', name, 'package.json'))
  }

  /** Adds a package to package.json and, unless asked otherwise, to the lock file. */
  async require(name: string, { locked = true } = {}): Promise<void> {
    if (locked) return this.npm('install', '--package-lock-only', `./packages/${name}`)
    const manifest = JSON.parse(await readFile(this.path('package.json'), 'utf8'))
    manifest.dependencies[name] = `file:packages/${name}`
    await writeFile(this.path('package.json'), JSON.stringify(manifest))
  }

  async npm(...args: string[]): Promise<void> {
    await run('npm', [...args, '--offline', '--loglevel=error'], { cwd: this.folder })
  }

  startInstall(args: string[] = [], environment: Record<string, string> = {}): ChildProcess {
    const env = { ...process.env, ...environment }
    return spawn(process.execPath, ['scripts/install.mjs', ...args], { cwd: this.folder, env })
  }

  install(args?: string[], environment?: Record<string, string>): Promise<Ending> {
    return collect(this.startInstall(args, environment))
  }

  async #fill(): Promise<void> {
    await this.#writePackage('node', { bin: { node: 'node.sh' } })
    await writeFile(this.path('packages/node/node.sh'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`)
    await chmod(this.path('packages/node/node.sh'), 0o755)
    await this.#writePackage('tool', {})
    await this.#writePackage('extra', {})
    const manifest = {
      name: 'project',
      private: true,
      workspaces: ['server'],
      dependencies: { node: 'file:packages/node' },
      devDependencies: { tool: 'file:packages/tool' },
    }
    await writeFile(this.path('package.json'), JSON.stringify(manifest))
    await mkdir(this.path('scripts'))
    for (const name of ['switchboard', 'scripts/install.mjs', 'server/package.json'])
      await cp(join(root, name), this.path(name))
    // It has no server that could be packed.
    await writeFile(this.path('scripts/compile.mjs'), '')
    await this.#writeServer()
    await this.npm('install', '--package-lock-only')
  }

  async #writeServer(): Promise<void> {
    const { name, version, bin } = JSON.parse(await readFile(join(root, 'server/package.json'), 'utf8'))
    await writeFile(this.path('server/package.json'), JSON.stringify({ name, version, bin }))
    await mkdir(this.path('server/bin'))
    await symlink('../../switchboard', this.path('server/bin/switchboard'))
    await mkdir(this.path('server/src'))
    await writeFile(
      this.path('server/src/main.js'),
      'console.log(JSON.stringify({ arguments: process.argv.slice(2), folder: process.cwd(), pid: process.pid }))\n' +
        "if (process.argv[2] === 'wait') setInterval(() => {}, 1000)\n",
    )
  }

  async #writePackage(name: string, more: object): Promise<void> {
    await mkdir(this.path('packages', name), { recursive: true })
    await writeFile(this.path('packages', name, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...more }))
  }
}

/** Runs a command to its end. */
export function runCommand(command: string, args: string[], folder: string): Promise<Ending> {
  return collect(spawn(command, args, { cwd: folder }))
}

export async function collect(child: ChildProcess): Promise<Ending> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (text) => {
    stdout += text
  })
  child.stderr?.on('data', (text) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

/** How the sample's server says that it was called. */
export function pickCall({ stdout }: Ending) {
  const { pid: _, ...call } = JSON.parse(stdout)
  return call
}

/** What an installation says from its beginning to its end; one that takes long also says how far it is. */
export function saidOfInstall(reason: string): RegExp {
  return new RegExp(
    `^${reason}: installing \\d+ packages \\(about \\d+ MB .+\\), then packing .+\n(?:  packages: \\d+ of \\d+\n)*(?:  packages: all .+\n)?` +
      `  packages: installed after \\d+ s; .+\n  done after \\d+ s\n$`,
  )
}
