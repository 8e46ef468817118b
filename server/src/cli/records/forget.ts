import { systemRandom } from '../../base/keys/random.ts'
import { silentLog } from '../../base/log/log.ts'
import { systemClock } from '../../base/time/clock.ts'
import { openFileStores } from '../../files/open.ts'
import { forgetUser, rememberingTables } from '../../resources/users/forget.ts'
import { CommandFailed } from '../fail.ts'
import { withLockedStore } from '../store.ts'

/** Erases a user's contents, name and settings; may run while servers do. */
export async function forget(text: string, flags: { data?: string }): Promise<void> {
  const wa_id = text.replace(/^\+/, '').replaceAll(/[\s().-]/g, '')
  if (!/^\d{1,20}$/.test(wa_id)) {
    throw new CommandFailed(
      `${JSON.stringify(text)} is not a user: give the phone number, digits only, such as 16505551234`,
    )
  }
  await withLockedStore({ DATA_DIR: flags.data }, async (database, config) => {
    const tools = { clock: systemClock, random: systemRandom }
    const { store } = await openFileStores(config, { ...tools, log: silentLog })
    const deps = { database, store, ...tools }
    const { messages, events, files } = await forgetUser(deps, wa_id).finally(() => store.close())
    await database.scrub(rememberingTables).catch((error: Error) => {
      throw new CommandFailed(
        `everything of the user is deleted, but its bytes may still be in the files of the database: ${error.message}; run it again`,
      )
    })
    process.stdout.write(
      `Erased the name and settings of the user, the contents of ${messages} messages with ${files} files, and ${events} entries of the webhook log. Backups from before still hold them.\n`,
    )
  })
}
