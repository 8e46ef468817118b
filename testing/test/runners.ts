import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { root, runFile } from '../../sdk/test/harness-pack.ts'

/** A test runner that the README has an example for: what runs the example, and what it prints when that passes. */
export const runners = {
  node: { example: 'bot.test.js', program: ['--test', '--test-reporter=tap'], passed: /^# pass 2$/m, inModules: [] },
  vitest: {
    example: 'bot.vitest.test.js',
    program: ['../node_modules/vitest/vitest.mjs', 'run', '--reporter=json'],
    passed: /"numPassedTests":1,"numFailedTests":0/,
    inModules: [],
  },
  jest: {
    example: 'bot.jest.test.js',
    program: ['../node_modules/jest/bin/jest.js', '--json'],
    passed: /"numFailedTests":0,.*"numPassedTests":1,/,
    // What Jest needs of Node for ES modules.
    inModules: ['--experimental-vm-modules'],
  },
} as const

export type Runner = keyof typeof runners
export type ModuleForm = 'module' | 'commonjs'

/** The files that the README shows, by their names. */
export async function readExamples(): Promise<Map<string, string>> {
  const text = await readFile(join(root, 'testing/README.md'), 'utf8')
  const blocks = [...text.matchAll(/^```js\n(\/\/ (\S+\.js)\b.*\n[\s\S]*?)^```$/gm)]
  return new Map(blocks.map(([, code = '', name = '']) => [name, code]))
}

export interface ExampleRun {
  /** A project that has the packages and the runners. */
  readonly project: string
  /** The program of Node. */
  readonly node: string
  readonly runner: Runner
  readonly form: ModuleForm
  /** The example; the one of the runner when left out. */
  readonly example?: { readonly name: string; readonly passed: RegExp }
  readonly env?: NodeJS.ProcessEnv
}

/** Runs the README's example for a runner in a folder of its own: whichever form it is written in, as ES modules or as CommonJS. */
export async function runExample({
  project,
  node,
  runner,
  form,
  env = process.env,
  ...given
}: ExampleRun): Promise<void> {
  const { program, inModules } = runners[runner]
  const { name: example, passed } = given.example ?? { name: runners[runner].example, passed: runners[runner].passed }
  const folder = join(project, `${runner}-${form}-${Math.random()}`)
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: form }))
  // Vitest turns whatever it runs into ES modules itself, and reads nothing else.
  const written = runner === 'vitest' ? 'module' : form
  const examples = await readExamples()
  for (const name of ['bot.js', example]) {
    await writeFile(
      join(folder, name),
      await writeAs(written, examples.get(name) ?? assert.fail(`${name} is not there`)),
    )
  }
  const flags = form === 'module' ? inModules : []
  const { NODE_TEST_CONTEXT: _context, NODE_OPTIONS: _options, ...others } = env
  const { stdout, stderr } = await runFile(node, [...flags, ...program], { cwd: folder, env: others }).catch(
    ({ stdout, stderr }) => assert.fail(`${stdout}${stderr}`),
  )
  assert.match(stdout, passed, stderr)
}

async function writeAs(form: ModuleForm, code: string): Promise<string> {
  if (form === 'commonjs') return (await transform(code, { format: 'cjs', platform: 'node' })).code
  return code.replaceAll(/^const (\{.*\}) = require\((.*)\)$/gm, 'import $1 from $2')
}
