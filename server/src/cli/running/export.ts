import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { nameCommand } from '../../base/command-name.ts'
import { exportWorld } from '../../world/export.ts'
import { countLeftOut } from '../../world/export-rows.ts'
import { listListenedApps } from '../listener.ts'
import { ask, findRemote, type Remote, type RemoteFlags } from '../remote.ts'
import { withStore } from '../store.ts'

/** Writes the store as a world file to standard output, and what the file cannot hold to standard error. */
export async function exportStore(flags: RemoteFlags & { data?: string }): Promise<void> {
  const remote = await findRemote(flags)
  if (remote) return exportRemote(remote)
  await withStore({ DATA_DIR: flags.data }, (database) =>
    database.snapshot(async (db) => {
      try {
        await pipeline(Readable.from(exportWorld(db)), process.stdout, { end: false })
      } catch (error) {
        // The reader has closed the pipe, as `head` does.
        if ((error as NodeJS.ErrnoException).code === 'EPIPE') return
        throw error
      }
      const leftOut = (await countLeftOut(db)).map(({ what, count }) => `${count} ${what}`)
      const notes = ['The file holds the secrets of apps: keep it as you keep those.']
      if (leftOut.length > 0) {
        notes.push(`A world file cannot hold, so these were left out: ${leftOut.join(', ')}.`)
      }
      notes.push('Of tokens only the hashes are stored: make new ones with ./switchboard token create.')
      for (const id of await listListenedApps(db)) {
        notes.push(
          `App ${id} is listened to, so the file has the callback and the links of ./switchboard listen in the place of its own: stop that (or, if it was killed: ./switchboard listen --app ${id} --restore) and export again.`,
        )
      }
      process.stderr.write(nameCommand(`${notes.join('\n')}\n`))
    }),
  )
}

async function exportRemote(remote: Remote): Promise<void> {
  const headers = { accept: 'application/yaml' }
  const { body } = await ask(remote, ({ operator }) => operator.world.export({ headers }))
  if (body) await pipeline(Readable.fromWeb(body as WebStream), process.stdout, { end: false })
  process.stderr.write('The file holds the secrets of apps: keep it as you keep those. Tokens are not in it.\n')
}
