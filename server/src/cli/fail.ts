import { nameCommand } from '../base/command-name.ts'
import { BadKeyFile } from '../base/keys/key-file.ts'
import { SecretsLocked, SecretUnreadable } from '../base/keys/key-ring.ts'
import { BadSetting } from '../base/setting-parsers.ts'
import { DatabaseUnavailable, MigrationsOutOfOrder, UnknownMigrations } from '../db/database.ts'
import { isUnwritableFile, isUnwritableSqlite } from '../db/outage.ts'
import { FilesUnavailable } from '../files/unavailable.ts'
import { WorldRefused } from '../world-part/problems.ts'

/** A problem that the user of the command can fix; shown without a stack. */
export class CommandFailed extends Error {}

/** Listening fails with an address or, for an unknown host name, with the name. */
type ListenError = NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number }

/** Reports a failure to the user of a command: one line when the mistake is theirs, the stack when it is ours. */
export function describeFailure(error: unknown): string {
  return nameCommand(describe(error))
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (
    error instanceof CommandFailed ||
    error instanceof BadSetting ||
    error instanceof BadKeyFile ||
    error instanceof SecretsLocked ||
    error instanceof SecretUnreadable ||
    error instanceof DatabaseUnavailable ||
    error instanceof UnknownMigrations ||
    error instanceof MigrationsOutOfOrder ||
    error instanceof FilesUnavailable ||
    error instanceof WorldRefused
  ) {
    return error.message
  }
  if (isUnwritableFile(error) || isUnwritableSqlite(error)) {
    return `nothing can be stored in the data folder (${error.message}); make room on its disk, or set DATA_DIR to a folder that can be written`
  }
  const { code, address, hostname, port } = error as ListenError
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${address} is taken: stop what listens there, or choose another: --port N, or set PORT`
    case 'EACCES':
      return port === undefined ? error.message : `listening on port ${port} is not permitted: choose one above 1023`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `HOST ${address ?? hostname} is not an address of this machine (${code}): set it to one that is, such as 127.0.0.1`
    default:
      return error.stack ?? error.message
  }
}
