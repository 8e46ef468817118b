import { systemRandom } from '../../base/keys/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { parseDuration } from '../../base/time/duration.ts'
import { rotateSecretForOperators } from '../../delivery/store/signing-secrets.ts'
import { CommandFailed } from '../fail.ts'
import { ask, findRemote, type RemoteFlags } from '../remote.ts'
import { withStore } from '../store.ts'
import { writeTime } from '../table.ts'

/** Prints only the secret on standard output, for scripts, and explanations on standard error. */
export async function rotateAppSecret(
  app_id: string,
  flags: RemoteFlags & { overlap: string; data?: string },
): Promise<void> {
  const { overlap: text, data } = flags
  const overlap = parseDuration(text)
  if (overlap === undefined) throw new CommandFailed(`--overlap ${text} is not a duration such as 24h`)
  const remote = await findRemote(flags)
  if (remote) {
    const made = await ask(remote, ({ operator }) => operator.appSecrets.rotate(app_id, { overlap: text }))
    return printSecret(app_id, made.secret, made.previous?.until ?? writeTime(systemClock.now()))
  }
  await withStore({ DATA_DIR: data }, async (database) => {
    const until = writeTime(systemClock.now() + overlap)
    const secret = await database.transaction((tx) =>
      rotateSecretForOperators(tx, systemClock, systemRandom, { app_id, overlap }),
    )
    if (secret === undefined)
      throw new CommandFailed(`${app_id} is not an app of this store; ./switchboard export lists them`)
    printSecret(app_id, secret, until)
  })
}

function printSecret(app_id: string, secret: string, until: string): void {
  process.stdout.write(`${secret}\n`)
  process.stderr.write(
    `App ${app_id} signs with this secret from now on; it is shown this once. The one before it is good until ${until}.\n`,
  )
}
