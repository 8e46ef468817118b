import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const program = `
  import { createSwitchboard } from '@switchboard/testing'
  const sb = await createSwitchboard()
  console.log(JSON.stringify({ pid: sb.pid, url: sb.url }))
  await new Promise((resolve) => setTimeout(resolve, 600_000))
`

test('the server of a test that was killed ends with it, and leaves nothing behind', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
  const { pid, url } = JSON.parse(String(chunk)) as { pid: number; url: string }
  const listFolders = () =>
    readdirSync(join(tmpdir(), `switchboard-testing-${process.getuid?.()}`)).filter((name) =>
      name.startsWith(`run-${child.pid}-`),
    )
  assert.equal(listFolders().length, 1)
  // The system closes it when the process is gone.
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  const gone = once(socket, 'close')
  child.kill('SIGKILL')
  await once(child, 'exit')
  await gone
  assert.deepEqual(listFolders(), [])
  assert.notEqual(pid, 0)
})
