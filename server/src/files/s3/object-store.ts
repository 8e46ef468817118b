import { Readable } from 'node:stream'
import { type BlobPlace, type ByteRange, checkName, type FileStore, placeBytes, putReceived } from '../file-store.ts'
import type { Spool } from '../spool.ts'
import { FilesUnavailable } from '../unavailable.ts'
import type { ObjectClient } from './client.ts'

const root = 'files/'
/** How often the rest of an object is asked for after its connection broke. */
const maxResumptions = 3

/**
 * Blobs as objects: `files/ab/cdef…`, with the place behind a dot where there is one. A blob arrives on the local disk, then it is
 * stored by one request of known length and hash: there is never half an object.
 */
export function openObjectStore(client: ObjectClient, spool: Spool): FileStore {
  const receive: FileStore['receive'] = async (source) => {
    const spooled = await spool.receive(source)
    const { sha256, size, read, discard } = spooled
    return {
      ...{ sha256, size, read, discard },
      async keep(announce) {
        const place = await announce({ sha256, size })
        await client.put(keyOf({ sha256, place }), { size, sha256, open: () => spooled.chunks() })
        await discard()
      },
    }
  }

  return {
    removesLate: true,
    put: (source, announce) => putReceived(receive, source, announce),
    receive,
    get: async (blob, range) => openObject(client, keyOf(blob), range),
    find: async (blob) => client.head(keyOf(blob)),
    async *list() {
      for await (const { keys } of client.list(root)) yield keys.flatMap(readKey)
    },
    // Several may share a prefix, or a bucket without one.
    claim: async (owner) => {
      const length = owner.length + 2 * placeBytes
      return ({ place }) => place.length === length && place.startsWith(owner)
    },
    remove: async (blob) => client.delete(keyOf(blob)),
    close: () => client.close(),
  }
}

function keyOf({ sha256, place }: BlobPlace): string {
  checkName(sha256)
  return `${root}${sha256.slice(0, 2)}/${sha256.slice(2)}${place === '' ? '' : `.${place}`}`
}

/** None for an object that is no blob. */
function readKey(key: string): BlobPlace[] {
  const [, start, rest, place = ''] = /^files\/([\da-f]{2})\/([\da-f]{62})(?:\.([\da-f]+))?$/.exec(key) ?? []
  return start !== undefined && rest !== undefined ? [{ sha256: start + rest, place }] : []
}

/** An object as a stream, which goes on after a connection that breaks; undefined when there is none. */
export async function openObject(
  client: ObjectClient,
  key: string,
  range?: ByteRange,
): Promise<{ stream: Readable; size: number } | undefined> {
  const found = await client.get(key, range)
  if (!found) return undefined
  const { size } = found
  const end = Math.min(range?.end ?? size - 1, size - 1)

  let body: Readable | undefined = found.body
  async function* readOn(): AsyncGenerator<Uint8Array> {
    let at = range?.start ?? 0
    for (let resumptions = 0; body; resumptions += 1) {
      try {
        for await (const chunk of body as AsyncIterable<Uint8Array>) {
          at += chunk.length
          yield chunk
        }
        if (at === end + 1) return
        throw new Error('the object ended early')
      } catch (error) {
        if (error instanceof FilesUnavailable) throw error
        if (resumptions === maxResumptions) throw new FilesUnavailable('away', 'an object broke off', error)
        body = (await client.get(key, { start: at, end }))?.body
      }
    }
    throw new FilesUnavailable('away', 'an object was removed while it was read')
  }
  const stream = Readable.from(readOn(), { objectMode: false })
  // A stream that nobody began to read must let go of its connection too.
  stream.once('close', () => body?.destroy())
  body.on('error', () => undefined)
  return { stream, size }
}
