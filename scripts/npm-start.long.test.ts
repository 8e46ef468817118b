// `npm start` in this clone, as scripts and supervisors run it: they know the process of npm, and signal that one alone.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { root } from './sample-project.ts'

describe('npm start', () => {
  let data: string
  before(async () => {
    data = await mkdtemp(join(tmpdir(), 'switchboard-npm-start-'))
  })
  after(() => rm(data, { recursive: true, maxRetries: 10 }))

  it('ends the server when its own process gets SIGTERM', async () => {
    const { npm, output, url } = await start(data)
    npm.kill('SIGTERM')
    assert.deepEqual(await once(npm, 'close'), [0, null], output())
    assert.match(output(), /"msg":"stopped"/)
    await assert.rejects(fetch(`${url}/healthz`))
  })

  it('stops the server in order at Ctrl-C, which the terminal sends to it and npm passes on', async () => {
    const { npm, output } = await start(data)
    assert.ok(npm.pid)
    process.kill(-npm.pid, 'SIGINT')
    const [code] = await once(npm, 'close')
    assert.equal(code, 0, output())
    assert.match(output(), /"msg":"stopped"/)
  })
})

async function start(data: string): Promise<{ npm: ChildProcess; output: () => string; url: string }> {
  const npm = spawn('npm', ['start'], {
    cwd: root,
    detached: true,
    env: { ...process.env, PORT: '0', DATA_DIR: data },
  })
  let text = ''
  const url = await new Promise<string>((resolve, reject) => {
    const note = (chunk: unknown) => {
      text += chunk
      const found = /^switchboard listening on (\S+)$/m.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    }
    npm.stdout.on('data', note)
    npm.stderr.on('data', note)
    npm.once('close', () => reject(new Error(`it never listened: ${text}`)))
  })
  return { npm, output: () => text, url }
}
