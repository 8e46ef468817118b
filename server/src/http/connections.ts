import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { sourceOf, unmap } from '../base/addresses.ts'

export interface ConnectionLimit {
  readonly maxPerAddress: number
  /** Whether an address speaks for many, and is not counted. */
  readonly isExempt: (address: string) => boolean
  /** Answers a connection that is one too many; it is ended behind that. */
  readonly refuse: (socket: Socket) => void
}

/** Refuses connections of an address that has too many of them. */
export function limitConnections(server: Server, { maxPerAddress, isExempt, refuse }: ConnectionLimit): void {
  const counts = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = unmap(socket.remoteAddress ?? '')
    if (isExempt(address)) return
    const source = sourceOf(address)
    const count = (counts.get(source) ?? 0) + 1
    if (count > maxPerAddress) {
      refuse(socket)
      // At once: whatever it has sent already must not become a request.
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
