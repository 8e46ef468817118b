import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { runFile } from './harness-pack.ts'

const size = 100 * 1024 * 1024

/** Sends a file in a process of its own, fetches it where that is asked for, and watches how much memory that takes at the most. */
const program = `
  import { createHash } from 'node:crypto'
  import { createReadStream } from 'node:fs'
  import { Switchboard } from '@switchboard/client'
  import { openFile } from '@switchboard/client/node'
  const [url, token, number, path, how, mode] = process.argv.slice(1)
  const client = new Switchboard({ baseUrl: url, token })
  await client.accounts.retrieve('1000000000000001')
  // What is alive, without what only waits to be collected. Buffers are freed by a thread beside, for which the second waits.
  const measure = () => {
    gc()
    gc()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const fetchAgain = async (id) => {
    const { url: link, sha256 } = await client.media.retrieve(id)
    const hash = createHash('sha256')
    const { body } = await client.media.download(link)
    for await (const chunk of body) hash.update(chunk)
    return { sha256, fetched: hash.digest('hex') }
  }
  const before = measure()
  let most = before
  const watch = setInterval(() => { most = Math.max(most, measure()) }, 200)
  const file = how === 'path' ? await openFile(path) : createReadStream(path)
  const { id } = await client.media.upload(number, { file })
  const hashes = mode === 'fetch' ? await fetchAgain(id) : {}
  clearInterval(watch)
  console.log(JSON.stringify({ growth: most - before, ...hashes }))
`

export type FileSource = 'path' | 'stream'

export interface Tried {
  /** Bytes of memory that were needed at the most, besides what was there before. */
  readonly growth: number
  /** As the server has it. */
  readonly sha256: string
  /** Of what came down. */
  readonly fetched: string
}

/** A PDF of 100 MB; gives its hash. */
export async function writeLargeFile(path: string): Promise<string> {
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
  return hash.digest('hex')
}

interface Server {
  readonly url: string
  readonly token: string
  readonly number: string
}

/** Sends a file and fetches it, with a Node and in a folder where the client is found. */
export async function tryLargeFile(
  node: string,
  cwd: string,
  server: Server,
  path: string,
  how: FileSource,
): Promise<Tried> {
  return (await run(node, cwd, server, [path, how, 'fetch'])) as Tried
}

/** Sends a file to a server that reads much slower than the disk does. */
export async function trySlowReceiver(
  node: string,
  cwd: string,
  path: string,
  how: FileSource,
): Promise<Pick<Tried, 'growth'> & { readonly received: number }> {
  let received = 0
  const server = createServer(async (request, response) => {
    for await (const chunk of request) {
      received += chunk.length
      await setTimeout(1)
    }
    response.setHeader('Content-Type', 'application/json').end('{"id":"1"}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const tried = await run(node, cwd, { url, token: 'EAAtest', number: '1' }, [path, how])
    return { growth: tried.growth, received }
  } finally {
    server.close()
  }
}

async function run(
  node: string,
  cwd: string,
  { url, token, number }: Server,
  more: readonly string[],
): Promise<Pick<Tried, 'growth'>> {
  const args = ['--expose-gc', '--input-type=module', '--eval', program, url, token, number, ...more]
  return JSON.parse((await runFile(node, args, { cwd })).stdout) as Pick<Tried, 'growth'>
}
