import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folders = ['server/src', 'server/test', 'sdk/test', 'testing/test', 'scripts']

/** The test files of the short form whose text matches. */
export function findTests(pattern: RegExp): string[] {
  const names = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  return names
    .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.long.test.ts'))
    .filter((name) => pattern.test(readFileSync(join(root, name), 'utf8')))
    .sort()
}

/** Runs test files once more, one after the other, in another environment. Returns how many tests passed, and fails if one did not. */
export async function runAgain(
  t: TestContext,
  files: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const args = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-concurrency=1',
    '--test-reporter=tap',
    ...files,
  ]
  // Otherwise the runner takes itself for one of its own children, and runs nothing.
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env
  const child = spawn(process.execPath, args, { cwd: root, env: { ...rest, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
      // A process of which nothing is heard is taken for one that hangs.
      process.stdout.write('.')
    })
  }
  const [code] = await once(child, 'close')
  t.diagnostic(output.match(/^# (tests|pass|fail) \d+$/gm)?.join(', ') ?? '')
  // Each with what node:test says of it. A run that broke off has none.
  const failed = output.match(/^ *not ok .*\n *---\n(?:.*\n)*? *\.\.\.$/gm) ?? [output.slice(-5000)]
  assert.equal(code, 0, failed.join('\n'))
  return Number(/^# pass (\d+)$/m.exec(output)?.[1])
}
