import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const server = fileURLToPath(new URL('..', import.meta.url))
/** What tests do that look at stored files. */
const looksAtFiles = /\bfiles\.(list|has|read|lose|listPieces|leavePiece|settings)\b|\btakeStock\(|\bmakeKeptFiles\(/

function listTests(): string[] {
  const names = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(server, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  return names
    .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.long.test.ts'))
    .filter((name) => looksAtFiles.test(readFileSync(join(server, name), 'utf8')))
    .sort()
}

/** In other runs SQLite goes with the disk and PostgreSQL with object storage. */
test('everything that stores files works with SQLite and object storage, and with PostgreSQL and the disk', async (t) => {
  const files = listTests()
  assert.ok(files.length > 12, files.join(' '))
  const args = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-concurrency=1',
    '--test-reporter=tap',
    ...files,
  ]
  // Otherwise the runner takes itself for one of its own children, and runs nothing.
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env
  const child = spawn(process.execPath, args, { cwd: server, env: { ...rest, TEST_STORAGE: 'swapped' } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  t.diagnostic(output.match(/^# (tests|pass|fail) \d+$/gm)?.join(', ') ?? '')
  const failed = output.split('\n').filter((line) => /^\s*not ok /.test(line))
  assert.equal(code, 0, `${failed.join('\n')}\n${output.slice(-5000)}`)
  const passed = Number(/^# pass (\d+)$/m.exec(output)?.[1])
  assert.ok(passed > 100, 'they ran')
})
