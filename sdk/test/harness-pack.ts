import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export const root = dirname(dirname(import.meta.dirname))
export const runFile = promisify(execFile)

/** `npm pack` of a workspace, in a copy of it: packing changes package.json for a moment. */
export async function packWorkspaces(names: readonly string[]): Promise<{ folder: string; tarballs: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-pack-'))
  const copy = join(folder, 'clone')
  await mkdir(copy)
  // The server is packed with the client and the console in it.
  const parts = names.includes('server') ? ['sdk', 'console', 'worlds', 'package-lock.json'] : []
  for (const name of new Set(['package.json', 'tsconfig.json', 'scripts', ...parts, ...names])) {
    await cp(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => path !== join(root, name, 'dist'),
    })
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  for (const name of names) {
    await runNpm(['pack', '--pack-destination', folder, '--loglevel=error'], join(copy, name))
  }
  const tarballs = (await readdir(folder)).filter((file) => file.endsWith('.tgz')).sort()
  return { folder, tarballs: tarballs.map((file) => join(folder, file)) }
}

/** npm comes with the Node that everything was installed with, not with the one that runs the tests. */
export async function runNpm(args: readonly string[], cwd: string): Promise<string> {
  return (
    await runFile('npm', args, { cwd, env: { ...process.env, npm_config_audit: 'false', npm_config_fund: 'false' } })
  ).stdout
}

export interface Project {
  readonly folder: string
  write(name: string, text: string): Promise<void>
  remove(): Promise<void>
}

/** An empty project with packages in it. */
export async function makeProject(packages: readonly string[], flags: readonly string[] = []): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-project-'))
  await writeFile(join(folder, 'package.json'), '{ "name": "project", "private": true, "type": "module" }')
  await runNpm(['install', '--loglevel=error', ...flags, ...packages], folder)
  return {
    folder,
    write: (name, text) => writeFile(join(folder, name), text),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Checks the types of a project, those of its packages included. */
export async function checkTypes(folder: string, compilerOptions: object): Promise<void> {
  const config = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      module: 'nodenext',
      target: 'es2022',
      ...compilerOptions,
    },
    include: ['*.ts'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await runFile(join(root, 'node_modules/.bin/tsc'), ['--project', '.'], { cwd: folder }).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`)
  })
}
