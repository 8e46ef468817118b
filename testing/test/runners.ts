import assert from 'node:assert/strict'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Project, root, runFile } from '../../sdk/test/harness-pack.ts'

/** Test runners that have an example: how each is started, what the example imports of it, and what it needs of Node. */
const runners = {
  vitest: {
    program: ['vitest/vitest.mjs', 'run', '--reporter=json'],
    imported: 'vitest',
    options: '',
  },
  jest: {
    program: ['jest/bin/jest.js', '--json'],
    imported: '@jest/globals',
    options: '--experimental-vm-modules',
  },
} as const

export type Runner = keyof typeof runners
export const runnerNames = Object.keys(runners) as Runner[]

/** Runs the example of a runner in a project that has the packages. */
export async function runExample(project: Project, name: Runner) {
  const { program, imported, options } = runners[name]
  const installed = join(root, 'node_modules')
  const place = join(project.folder, 'node_modules', imported)
  await mkdir(dirname(place), { recursive: true })
  await symlink(join(installed, imported), place)
  const example = `${name}.spec.js`
  await cp(join(root, 'testing/examples', example), join(project.folder, example))
  const [file, ...flags] = program
  const env = { ...process.env, SWITCHBOARD_COMMAND: join(root, 'switchboard'), NODE_OPTIONS: options }
  const { stdout } = await runFile(process.execPath, [join(installed, file), ...flags, example], {
    cwd: project.folder,
    env,
  }).catch(({ stdout, stderr }) => assert.fail(`${stdout}${stderr}`))
  const { success, numPassedTests, numTotalTests } = JSON.parse(stdout)
  return { success, numPassedTests, numTotalTests }
}
