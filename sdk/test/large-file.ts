import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { runFile } from './harness-pack.ts'

const size = 100 * 1024 * 1024

/** Sends and fetches a file in a process of its own, and tells how much memory that took at the most. */
const program = `
  import { createHash } from 'node:crypto'
  import { createReadStream } from 'node:fs'
  import { Switchboard } from '@switchboard/client'
  import { openFile } from '@switchboard/client/node'
  const [url, token, number, path, how] = process.argv.slice(1)
  const client = new Switchboard({ baseUrl: url, token })
  await client.account.read('1000000000000001')
  // What is alive, without what only waits to be collected. Buffers are freed by a thread beside, for which the second waits.
  const measure = () => {
    gc()
    gc()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = measure()
  let most = before
  const watch = setInterval(() => { most = Math.max(most, measure()) }, 200)
  const file = how === 'path' ? await openFile(path) : createReadStream(path)
  const { id } = await client.media.upload(number, { file })
  const { url: link, sha256 } = await client.media.read(id)
  const hash = createHash('sha256')
  const { body } = await client.media.download(link)
  for await (const chunk of body) hash.update(chunk)
  clearInterval(watch)
  console.log(JSON.stringify({ growth: most - before, sha256, fetched: hash.digest('hex') }))
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

/** Sends a file and fetches it, with a Node and in a folder where the client is found. */
export async function tryLargeFile(
  node: string,
  cwd: string,
  server: { readonly url: string; readonly token: string; readonly number: string },
  path: string,
  how: FileSource,
): Promise<Tried> {
  const given = [server.url, server.token, server.number, path, how]
  const args = ['--expose-gc', '--input-type=module', '--eval', program, ...given]
  return JSON.parse((await runFile(node, args, { cwd })).stdout) as Tried
}
