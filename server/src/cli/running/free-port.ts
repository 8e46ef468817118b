import { once } from 'node:events'
import { createServer } from 'node:net'

/** Fails as listening would, before anything is made in the data folder: a start on a taken port leaves nothing behind. */
export async function checkPort({ port, host }: { readonly port: number; readonly host: string }): Promise<void> {
  if (port === 0) return
  const server = createServer().listen({ port, host })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
