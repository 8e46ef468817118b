import type { TestContext } from 'node:test'
import { type RunningServer, startCommand } from './command.ts'
import { makeStorePlace } from './databases.ts'

/** A server of the demo world in a process of its own, until the test ends. `folder`: its store, and where it was started. */
export async function serveDemo(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<{ server: RunningServer; folder: string }> {
  const place = await makeStorePlace('sqlite')
  const folder = place.dataDir
  const server = await startCommand(['serve', '--port', '0', '--data', folder], { cwd: folder, env })
  t.after(async () => {
    await server.stop('SIGTERM')
    await place.remove()
  })
  return { server, folder }
}
