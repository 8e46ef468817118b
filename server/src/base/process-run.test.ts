import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { hasEnded, nameOwnRun } from './process-run.ts'

/** The name of another run on this machine. */
function nameRun(pid: number, started: number): string {
  const [host, space] = nameOwnRun().split('~')
  return [host, space, pid, started].join('~')
}

test('a run has a name that stays the same, and has not ended while it runs', () => {
  assert.equal(nameOwnRun(), nameOwnRun())
  assert.match(nameOwnRun(), /^[^~/]+~\d*~\d+~\d+$/)
  assert.equal(hasEnded(nameOwnRun()), false)
})

test('a run before this one that had the same process id has ended', () => {
  assert.equal(hasEnded(nameRun(process.pid, 1)), true)
})

test('another run has ended when its process is gone, and not before', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  await once(child, 'spawn')
  const run = nameRun(child.pid ?? 0, 1)
  assert.equal(hasEnded(run), false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(hasEnded(run), true)
})

test('nothing is known of runs on other machines and in other containers, nor of what is no run', () => {
  const [host, space, pid, started] = nameRun(process.pid, 1).split('~')
  for (const run of [
    ['elsewhere', space, pid, started].join('~'),
    [host, '1', pid, started].join('~'),
    'something else',
    '',
  ]) {
    assert.equal(hasEnded(run), false, run)
  }
})
