import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { png } from '../../../../test/harness/media-files.ts'
import { listenForTest } from '../../../../test/harness/sink.ts'
import { systemRandom } from '../../../base/keys/random.ts'
import { ManualClock } from '../../../base/time/clock.ts'
import { second } from '../../../base/time/duration.ts'
import { readConfig } from '../../../config.ts'
import { Egress } from '../../../egress/egress.ts'
import { isPublicAddress } from '../../../egress/public-address.ts'
import { openFileSystemStore } from '../../../files/file-system.ts'
import type { Files } from '../../../files/files.ts'
import { fetchLink, LinkError } from './fetch-link.ts'

const loopback = { address: '127.0.0.1', family: 4 } as const

test('every redirect is guarded like the link itself, plain http included', async (t) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const to = new URL(request.url ?? '', 'http://host').searchParams.get('to')
    if (to === null) response.end(png)
    else response.writeHead(302, { location: to }).end()
  })
  const { port } = await listenForTest(t, server)
  const egress = new Egress({
    allowInternal: false,
    allowHttp: true,
    timeout: 60 * second,
    // For this test the address of its host is a public one, as is no other of this machine.
    resolve: async (name) => [name === 'inside.example' ? { address: '10.0.0.1', family: 4 } : loopback],
    isPublic: (address) => address === loopback.address || isPublicAddress(address),
    clock: new ManualClock(0),
    userAgent: 'test',
  })
  t.after(() => egress.close())
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-links-'))
  t.after(() => rm(folder, { recursive: true }))
  const store = await openFileSystemStore(folder, new ManualClock(0), systemRandom)
  const files: Pick<Files, 'receive'> = {
    async receive(source) {
      const arrival = await store.receive(source)
      return { ...arrival, keep: () => arrival.keep(async () => '') }
    },
  }
  const settings = readConfig({ LINK_FETCH_TIMEOUT: '5s' })
  const fetch = (path: string) =>
    fetchLink({ egress, files: files as Files, settings }, `http://files.example:${port}${path}`, 'image', {
      stopping: new AbortController().signal,
      isSilent: false,
    })
  const redirectTo = (url: string) => `/?to=${encodeURIComponent(url)}`

  const { mime_type, sha256 } = await fetch(redirectTo(`http://other.example:${port}/a.png`))
  const kept = await store.get({ sha256, place: '' })
  kept?.stream.destroy()
  assert.deepEqual([mime_type, kept?.size], ['image/png', png.length])
  const before = asked.length
  for (const url of [
    `http://127.0.0.1:${port}/a.png`,
    `http://localhost:${port}/a.png`,
    `http://inside.example:${port}/a.png`,
    `http://ada:secret@other.example:${port}/a.png`,
    'http://169.254.169.254/latest/meta-data',
    'file:///etc/passwd',
  ]) {
    await assert.rejects(
      fetch(redirectTo(url)),
      (error) => error instanceof LinkError && error.failure === 'final',
      url,
    )
  }
  assert.equal(asked.length, before + 6, 'nothing but the redirects themselves was asked for, each once')
})
