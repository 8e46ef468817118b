import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { noteTimes, readTimes } from './test-times.ts'

describe('the processor time of test files', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-test-times-'))
  })
  after(() => rm(folder, { recursive: true }))

  it('is listed, the longest first', async () => {
    const path = join(folder, 'listed')
    const times = [
      { file: 'quick', tests: 1, postgres: 1 },
      { file: 'slow', tests: 1, postgres: 3 },
    ]
    await writeFile(path, times.map((time) => `${JSON.stringify(time)}\n`).join(''))
    assert.deepEqual(
      readTimes(path).map(({ file }) => file),
      ['slow', 'quick'],
    )
  })

  // Other systems do not tell what a process has used.
  if (process.platform !== 'linux') return
  it('has in it what processes used that a test started, those included that have ended', async () => {
    const path = join(folder, 'measured')
    const work = 'const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end);'
    const program = `
      import { spawnSync } from 'node:child_process'
      const { measureFile } = await import(${JSON.stringify(import.meta.resolve('./test-times.ts'))})
      const noteTime = measureFile('a file')
      spawnSync(process.execPath, ['-e', ${JSON.stringify(work)}])
      noteTime()
      console.log(Object.keys(process.env).filter((name) => name.startsWith('TEST_TIMES')).length)
    `
    const env = { ...process.env, ...noteTimes({ postgres: process.pid, path }) }
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { env, encoding: 'utf8' })
    assert.equal(stdout, '0\n', 'runners that tests start do not measure')
    const [{ file, tests } = assert.fail()] = readTimes(path)
    assert.equal(file, 'a file')
    assert.ok(tests >= 0.25, `${tests} s`)
  })
})
