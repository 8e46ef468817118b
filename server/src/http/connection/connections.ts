import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { sourceOf, unmap } from '../../base/text/addresses.ts'

export interface ConnectionLimit {
  readonly maxPerAddress: number
  /** Whether an address carries many clients, and is not counted. */
  readonly isExempt: (address: string) => boolean
  /** Answers a connection over the limit; the connection is closed afterwards. */
  readonly refuse: (socket: Socket) => void
}

/** Refuses connections from an address that has too many. */
export function limitConnections(server: Server, { maxPerAddress, isExempt, refuse }: ConnectionLimit): void {
  const counts = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = unmap(socket.remoteAddress ?? '')
    if (isExempt(address)) return
    const source = sourceOf(address)
    const count = (counts.get(source) ?? 0) + 1
    if (count > maxPerAddress) {
      refuse(socket)
      // At once: the bytes already sent must not become a request.
      socket.destroy()
      return
    }
    counts.set(source, count)
    socket.once('close', () => {
      const left = (counts.get(source) ?? 1) - 1
      if (left > 0) counts.set(source, left)
      else counts.delete(source)
    })
  })
}
