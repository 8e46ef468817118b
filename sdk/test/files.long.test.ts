import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createSwitchboard, type TestSwitchboard } from '@switchboard/testing'
import { makeProject, type Project, packWorkspaces, runFile } from './harness-pack.ts'
import { tryLargeFile, trySlowReceiver, writeLargeFile } from './large-file.ts'

/** What is held of the file at any moment: what waits in sockets and streams, a few pieces of 64 KiB each. */
const mostGrowth = 16 * 1024 * 1024

/** The client as it is packed, on every Node that it is for. */
describe('a file of 100 MB', () => {
  let sb: TestSwitchboard
  let folder: string
  let path: string
  let sha256: string
  let packed: { folder: string; tarballs: string[] }
  before(async () => {
    ;[sb, packed] = await Promise.all([createSwitchboard(), packWorkspaces(['sdk'])])
    folder = await mkdtemp(join(tmpdir(), 'switchboard-files-'))
    path = join(folder, 'large.pdf')
    sha256 = await writeLargeFile(path)
  })
  after(async () => {
    await sb.close()
    for (const one of [folder, packed.folder]) await rm(one, { recursive: true, force: true })
  })

  for (const major of ['20', '22', '24']) {
    describe(`on Node ${major}`, () => {
      let project: Project
      const node = () => join(project.folder, 'node_modules/.bin/node')
      before(async () => {
        project = await makeProject([...packed.tarballs, `node@${major}`])
        assert.match((await runFile(node(), ['--version'])).stdout, new RegExp(`^v${major}\\.`))
      })
      after(() => project.remove())

      for (const how of ['path', 'stream'] as const) {
        test(`a file of 100 MB on Node ${major} goes up by ${how} and comes down in flat memory`, async (t) => {
          const result = await tryLargeFile(node(), project.folder, sb, path, how)
          t.diagnostic(`${(result.growth / 1024 / 1024).toFixed(1)} MB`)
          assert.deepEqual([result.sha256, result.fetched], [sha256, sha256])
          assert.ok(result.growth < mostGrowth, `${result.growth} bytes`)
        })

        test(`a file of 100 MB on Node ${major} goes up by ${how} no faster than it is received`, async (t) => {
          const result = await trySlowReceiver(node(), project.folder, path, how)
          t.diagnostic(`${(result.growth / 1024 / 1024).toFixed(1)} MB`)
          assert.ok(result.received > (await stat(path)).size, `${result.received} bytes were received`)
          assert.ok(result.growth < mostGrowth, `${result.growth} bytes`)
        })
      }
    })
  }
})
