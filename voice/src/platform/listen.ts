import type { Server } from 'node:http'
import { VoiceError } from '../voice-error.ts'

/** Has a server listen; returns its address. */
export async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new VoiceError(`port ${port} at ${host} cannot be listened on (${code}): give another with --port`)),
    )
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const found = typeof address === 'object' && address !== null ? address.port : port
  return `http://${host.includes(':') ? `[${host}]` : host}:${found}`
}

/** Ends a server with all of its connections. */
export async function stopListening(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
