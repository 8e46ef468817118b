import { insertLink } from '../../auth/sessions.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { cutTrailingSlashes } from '../../base/text/slashes.ts'
import { systemClock } from '../../base/time/clock.ts'
import { parseDuration } from '../../base/time/duration.ts'
import type { Transaction } from '../../db/database.ts'
import { CommandFailed } from '../fail.ts'
import { withStore } from '../store.ts'

export interface ConsoleLinkFlags {
  readonly for: string
  readonly expires: string
  readonly account: string[]
  readonly business: string[]
  readonly data?: string
}

/** Prints only the link on standard output. Its code stands behind the #, which browsers send to nobody and no log holds. */
export async function printConsoleLink(flags: ConsoleLinkFlags): Promise<void> {
  const lifetime = parseDuration(flags.expires)
  if (!lifetime) throw new CommandFailed(`--expires ${flags.expires} is not a duration such as 1h`)
  await withStore({ DATA_DIR: flags.data }, async (database, config) => {
    const code = await database.transaction(async (tx) => {
      const limits = await readLimits(tx, flags)
      return insertLink(tx, systemRandom, { name: flags.for, ...limits, expires_time: systemClock.now() + lifetime })
    })
    const base = config.publicUrl ?? `http://${config.host}:${config.port}`
    process.stdout.write(`${cutTrailingSlashes(base)}/#enter=${code}\n`)
    process.stderr.write(`The link works once, within ${flags.expires}, and signs in as ${flags.for}.\n`)
    if (config.oidcIssuer !== undefined)
      process.stderr.write(`It goes around ${config.oidcIssuer}, where operators sign in.\n`)
  })
}

/** Whoever is limited to a business sees all its accounts, those of later too. */
async function readLimits(tx: Transaction, { account, business }: ConsoleLinkFlags) {
  if (account.length === 0 && business.length === 0) return { accounts: null, businesses: null }
  const found = await tx.query
    .selectFrom('nodes')
    .select(['id', 'kind'])
    .where('id', 'in', [...account, ...business])
    .execute()
  const check = (flag: string, ids: readonly string[], kind: string) => {
    const wrong = ids.find((id) => !found.some((one) => one.id === id && one.kind === kind))
    if (wrong !== undefined) throw new CommandFailed(`${flag} ${wrong} is no ${kind} of this store`)
  }
  check('--account', account, 'account')
  check('--business', business, 'business')
  return { accounts: account.length === 0 ? null : account, businesses: business.length === 0 ? null : business }
}
