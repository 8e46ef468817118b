import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

const types = { a: 1, aaaa: 28 }
const codes = { fine: 0, failed: 2, unknown: 3 }

/** What a name server says of one name; of a name that it does not have, that there is none. */
interface Known {
  readonly a?: readonly number[]
  readonly aaaa?: readonly number[]
  /** `failed`: SERVFAIL. */
  readonly code?: keyof typeof codes
  /** Whether questions without an address stay without an answer. */
  readonly isSilent?: boolean
  /** Milliseconds until an answer. */
  readonly delay?: number
}

/** What is known of a name. */
export type Zone = (name: string) => Known | undefined

export interface NameServer {
  readonly address: string
  /** The names that were asked for. */
  readonly asked: readonly string[]
  /** From now on another zone is served. */
  serve(zone: Zone): void
}

/** A name server on loopback, which knows just so much of the protocol as one answer takes. */
export async function startNameServer(t: TestContext, first: Zone): Promise<NameServer> {
  const asked: string[] = []
  let zone = first
  let isOpen = true
  const socket = createSocket('udp4')
  socket.on('message', (query, { port }) => {
    const { name, type, end } = readQuestion(query)
    asked.push(name)
    const known = zone(name) ?? { code: 'unknown' }
    const address = type === types.a ? known.a : type === types.aaaa ? known.aaaa : undefined
    if (known.isSilent && !address) return
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | codes[known.code ?? 'fine'], 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(address ? 1 : 0, 6)
    // A pointer to the name of the question, the type, the class, a time to live of 60 s, and the address.
    const record = address
      ? Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length, ...address])
      : Buffer.alloc(0)
    const answer = () => {
      if (isOpen) socket.send(Buffer.concat([header, query.subarray(12, end), record]), port, '127.0.0.1')
    }
    if (known.delay === undefined) answer()
    else setTimeout(answer, known.delay)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => {
    isOpen = false
    socket.close()
  })
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    serve(next) {
      zone = next
    },
  }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}
