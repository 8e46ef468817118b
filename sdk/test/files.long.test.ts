import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createSwitchboard, type TestSwitchboard } from '@switchboard/testing'
import { root, runFile } from './harness-pack.ts'

const size = 100 * 1024 * 1024
/** A process of Node has some 50 MB; what is held of the file comes on top. */
const mostGrowth = 48 * 1024 * 1024

/** Sends and fetches a file in a process of its own, and tells how much memory that took at the most. */
const program = `
  import { createHash } from 'node:crypto'
  import { createReadStream } from 'node:fs'
  import { Switchboard } from '@switchboard/client'
  import { openFile } from '@switchboard/client/node'
  const [url, token, number, path, how] = process.argv.slice(1)
  const client = new Switchboard({ baseUrl: url, token })
  await client.account.read('1000000000000001')
  const before = process.memoryUsage.rss()
  let most = before
  const watch = setInterval(() => { most = Math.max(most, process.memoryUsage.rss()) }, 5)
  const file = how === 'path' ? await openFile(path) : createReadStream(path)
  const { id } = await client.media.upload(number, { file })
  const { url: link, sha256 } = await client.media.read(id)
  const hash = createHash('sha256')
  const { body } = await client.media.download(link)
  for await (const chunk of body) hash.update(chunk)
  clearInterval(watch)
  console.log(JSON.stringify({ growth: most - before, sha256, fetched: hash.digest('hex') }))
`

describe('a file of 100 MB', () => {
  let sb: TestSwitchboard
  let folder: string
  let path: string
  let sha256: string
  before(async () => {
    sb = await createSwitchboard()
    folder = await mkdtemp(join(tmpdir(), 'switchboard-files-'))
    path = join(folder, 'large.pdf')
    const hash = createHash('sha256')
    const file = await open(path, 'w')
    const piece = Buffer.alloc(1024 * 1024, 'x')
    for (let at = 0; at < size; at += piece.length) {
      if (at === 0) piece.write('%PDF-1.7\n')
      else piece.fill('x', 0, 9)
      hash.update(piece)
      await file.write(piece)
    }
    await file.close()
    sha256 = hash.digest('hex')
  })
  after(async () => {
    await sb.close()
    await rm(folder, { recursive: true, force: true })
  })

  for (const how of ['path', 'stream']) {
    test(`goes up by ${how} and comes down in flat memory`, async () => {
      const args = ['--input-type=module', '--eval', program, sb.url, sb.token, sb.number, path, how]
      const { stdout } = await runFile(process.execPath, args, { cwd: join(root, 'sdk') })
      const told = JSON.parse(stdout) as { growth: number; sha256: string; fetched: string }
      assert.deepEqual([told.sha256, told.fetched], [sha256, sha256])
      assert.ok(told.growth < mostGrowth, `${Math.round(told.growth / 1024 / 1024)} MB`)
    })
  }
})
