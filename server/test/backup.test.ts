import assert from 'node:assert/strict'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCommand } from './harness/command.ts'
import { onOneDatabase } from './harness/databases.ts'
import { fill, pdf } from './harness/media-files.ts'
import { makePicture } from './harness/pictures.ts'
import { useTestServer } from './harness/server.ts'
import { ids, numbers, tokens } from './harness/world.ts'

const token = tokens.owner

onOneDatabase('a backup of files, as docs/keeping.md has it', 'sqlite', (engine) => {
  const server = useTestServer({ engine })

  async function download(id: string): Promise<{ status: number; bytes: Buffer }> {
    const { body } = await server.client.get(`/v23.0/${id}`, { token })
    const answer = await fetch(body.url, { headers: { authorization: `Bearer ${token}` } })
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
  }

  test('a backup of files, as docs/keeping.md has it: brings back media files and unfinished uploads after the storage was lost', async (t) => {
    const document = fill(pdf, 200_000)
    const multipart = { file: new Blob([new Uint8Array(document)]) }
    const uploaded = await server.client.post(`/v23.0/${numbers.main}/media`, { token, multipart })
    assert.equal(uploaded.status, 200, uploaded.text)
    const picture = makePicture('image/png', 300)
    const json = { file_length: picture.length, file_type: 'image/png' }
    const { body: opened } = await server.client.post(`/v23.0/${ids.application}/uploads`, { token, json })
    const append = (offset: number, raw: Uint8Array) =>
      server.client.post(`/v23.0/${opened.id}`, { token, raw, headers: { file_offset: String(offset) } })
    await append(0, picture.subarray(0, 100))

    const backup = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
    t.after(() => rm(backup, { recursive: true, force: true }))
    const { FILES_URL: url, ...keys } = server.files.settings
    const copyFolders = (from: string, to: string) =>
      Promise.all(['files', 'uploads'].map((name) => cp(join(from, name), join(to, name), { recursive: true })))
    const copyObjects = async (from: string, to: string) => {
      const env = { ...keys, DATA_DIR: server.dataDir, ...(server.databaseUrl && { DATABASE_URL: server.databaseUrl }) }
      const { stdout, stderr } = await runCommand(['files', 'copy', '--from', from, '--to', to], { env, cwd: backup })
      assert.match(stdout, /^Copied 2 files and pieces/, stderr)
    }

    if (url === undefined) await copyFolders(server.dataDir, backup)
    else await copyObjects(url, backup)
    await server.files.loseAll()
    assert.equal((await download(uploaded.body.id)).status, 500)
    if (url === undefined) await copyFolders(backup, server.dataDir)
    else await copyObjects(backup, url)

    assert.ok((await download(uploaded.body.id)).bytes.equals(document))
    assert.ok((await append(100, picture.subarray(100))).body.h)
  })
})
