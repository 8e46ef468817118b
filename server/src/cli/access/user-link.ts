import { systemRandom } from '../../base/keys/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { endAfter, parseDuration } from '../../base/time/duration.ts'
import { insertPersonLink } from '../../resources/sign-up/person-links.ts'
import { CommandFailed } from '../fail.ts'
import { withStore } from '../store.ts'

export interface UserLinkFlags {
  readonly expires: string
  readonly data?: string
}

/** Prints only the code on standard output: it is typed into the dialog of the sign-up. */
export async function printUserLink(id: string, { expires, data }: UserLinkFlags): Promise<void> {
  const now = systemClock.now()
  const expires_time = endAfter(now, parseDuration(expires) || undefined)
  if (expires_time === undefined) throw new CommandFailed(`--expires ${expires} is not a duration such as 1h`)
  await withStore({ DATA_DIR: data }, async (database) => {
    const made = await database.transaction(async (tx) => {
      const person = await tx.query
        .selectFrom('business_users')
        .select(['name', 'email'])
        .where('id', '=', id)
        .executeTakeFirst()
      if (!person) throw new CommandFailed(`${id} is no person of a business of this store`)
      return { person, code: await insertPersonLink(tx, systemRandom, now, { user_id: id, expires_time }) }
    })
    const { name, email } = made.person
    process.stdout.write(`${made.code}\n`)
    process.stderr.write(`The code works once, within ${expires}, and signs in as ${name} (${email}) to the sign-up.\n`)
  })
}
