import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { type RunningServer, startCommand } from './command.ts'
import { type Engine, makeMigratedPlace } from './databases.ts'
import type { Storage } from './file-stores.ts'
import { makeKeptFiles, storageOf } from './kept-files.ts'
import { pdf } from './media-files.ts'
import { SlowUpload } from './slow-upload.ts'
import { listFiles } from './stock.ts'

/** Uploads of media to servers that are processes of their own. */

const mebibyte = 1_048_576
export const token = 'demo-token'
export const headers = { authorization: `Bearer ${token}` }
export const path = '/v23.0/4000000000000001/media'

/** A place for a store and the servers that run on it one after the other; all of it is gone after the test. */
export async function useServers(t: TestContext, engine: Engine, where = storageOf(engine)) {
  const place = await makeMigratedPlace(engine)
  const files = await makeKeptFiles(place.dataDir, where)
  const started: RunningServer[] = []
  t.after(async () => {
    for (const server of started) await server.stop('SIGKILL')
    await files.stop()
    await place.remove()
  })
  return {
    place,
    files,
    async startServer(): Promise<RunningServer> {
      const { dataDir, databaseUrl } = place
      const env = {
        ...files.settings,
        DATA_DIR: dataDir,
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      }
      const server = await startCommand(['serve', '--port', '0'], { env, cwd: dataDir })
      started.push(server)
      return server
    },
  }
}

/** The memory of a process, and the most that it had so far; only Linux tells of the latter. */
export async function measureMegabytes(pid: number) {
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])
    return { now: Number(stdout) / 1024, peak: Number(stdout) / 1024 }
  }
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

/** Sends a document of so many bytes and reads it again: neither may raise the memory of the server by 40 MB. */
export async function assertLittleMemory(t: TestContext, where: Storage, bytes: number): Promise<void> {
  const { place, startServer } = await useServers(t, 'sqlite', where)
  const server = await startServer()
  // What the first upload of any size loads and compiles is no part of it.
  const small = await SlowUpload.start({ url: server.url, path, token })
  await small.send(pdf)
  await small.send(Buffer.alloc(4 * mebibyte, 1))
  await small.end()
  assert.equal((await small.answer()).status, 200)
  small.cut()
  const before = await measureMegabytes(server.pid)
  const upload = await SlowUpload.start({ url: server.url, path, token })
  await upload.send(pdf)
  for (let left = bytes - pdf.length; left > 0; left -= mebibyte) {
    await upload.send(Buffer.alloc(Math.min(left, mebibyte), left % 251))
  }
  await upload.end()
  const { status, body } = await upload.answer()
  assert.equal(status, 200, body)
  const uploaded = await measureMegabytes(server.pid)
  upload.cut()

  const read = await fetch(`${server.url}/v23.0/${JSON.parse(body).id}`, { headers })
  const medium = (await read.json()) as { url: string; sha256: string; file_size: number }
  assert.equal(medium.file_size, bytes)
  const answer = await fetch(medium.url, { headers })
  const hash = createHash('sha256')
  for await (const chunk of answer.body ?? []) hash.update(chunk)
  assert.equal(hash.digest('hex'), medium.sha256)
  const downloaded = await measureMegabytes(server.pid)

  t.diagnostic(
    `${before.now.toFixed(1)} MB, uploaded ${uploaded.peak.toFixed(1)}, downloaded ${downloaded.peak.toFixed(1)}`,
  )
  assert.ok(uploaded.peak - before.now < 40, `from ${before.now} MB to ${uploaded.peak} MB`)
  assert.ok(downloaded.peak - uploaded.peak < 40, `from ${uploaded.peak} MB to ${downloaded.peak} MB`)
  assert.equal((await listFiles(place.dataDir)).length, where === 'disk' ? 2 : 0)
}
