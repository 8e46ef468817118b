import type { Command } from 'commander'
import { dataFlag, jsonFlag, repeatable, tokenFlag, urlFlag } from './flags.ts'

/** Commands about who may do what, and about the keys and secrets that this relies on. */
export function addAccessCommands(program: Command): void {
  const token = program.command('token').description('create, list and revoke system user tokens')
  token
    .command('create')
    .description('create a token and print its secret, once')
    .requiredOption('--app <id>', 'the app of the token')
    .addOption(repeatable('--scope <scope>', 'a permission', 'both business scopes'))
    .addOption(
      repeatable('--account <id>', 'an account to which the token is limited', "all that the app's business sees"),
    )
    .addOption(
      repeatable('--business <id>', 'with the scope operator: a business to which the token is limited', 'all'),
    )
    .option('--expires <duration>', 'the lifetime, such as 12h or 60d (default: no end)')
    .option('--name <name>', 'what it is for, to find it in the list')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('../access/token.ts')).createToken(flags))
  token
    .command('list')
    .description('list tokens, without their secrets')
    .option(...jsonFlag)
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('../access/token.ts')).listTokens(flags))
  token
    .command('revoke')
    .description('revoke a token')
    .argument('<id>', 'its id, or its name where one good token has it')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (id, flags) => (await import('../access/token.ts')).revokeTokenBy(id, flags))

  const app = program.command('app').description('manage apps')
  app
    .command('rotate-secret')
    .description(
      "create a secret that signs an app's webhooks and print it, once; the old secret stays valid for --overlap",
    )
    .argument('<id>')
    .option('--overlap <duration>', 'how long the old secret stays valid', '24h')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (id, flags) => (await import('../access/app-secret.ts')).rotateAppSecret(id, flags))

  program
    .command('console')
    .description('sign in to the console')
    .command('link')
    .description('print a link that signs somebody in to the console; it works once')
    .option('--for <name>', 'the name of the person', 'operator')
    .option('--expires <duration>', 'how long the link is valid', '1h')
    .addOption(repeatable('--account <id>', 'an account to which the session is limited', 'all'))
    .addOption(repeatable('--business <id>', 'a business to which the session is limited', 'all'))
    .option(...dataFlag)
    .action(async (flags) => (await import('../access/console-link.ts')).printConsoleLink(flags))

  program
    .command('user')
    .description('let people of businesses sign in')
    .command('link')
    .description('print a code by which a person of a business signs in to the dialog of the sign-up; it works once')
    .argument('<id>', 'the id of the person')
    .option('--expires <duration>', 'how long the code is valid', '1h')
    .option(...dataFlag)
    .action(async (id, flags) => (await import('../access/user-link.ts')).printUserLink(id, flags))

  const signingKey = program
    .command('signing-key')
    .description('list and rotate the keys that sign the public keys of businesses')
  signingKey
    .command('list')
    .description('list signing keys, without their secrets')
    .option(...jsonFlag)
    .option(...dataFlag)
    .action(async (flags) => (await import('../access/signing-key.ts')).listSigningKeys(flags))
  signingKey
    .command('rotate')
    .description('create a signing key and replace the signatures of the earlier keys')
    .option(...dataFlag)
    .action(async (flags) => (await import('../access/signing-key.ts')).rotate(flags))

  const secrets = program
    .command('secrets')
    .description('create, list and rotate the keys that encrypt the secrets in the store')
  secrets
    .command('generate-key')
    .description('print a new key for SECRETS_KEY')
    .action(async () => (await import('../access/secrets-command.ts')).generateKey())
  secrets
    .command('list')
    .description('list the ids of the keys that the store needs, without the keys')
    .option(...jsonFlag)
    .option(...dataFlag)
    .action(async (flags) => (await import('../access/secrets-command.ts')).listKeys(flags))
  secrets
    .command('rotate')
    .description(
      'encrypt every secret with the new key: SECRETS_KEY if it is set, otherwise a new key in the key file; an interrupted rotation continues at the next run',
    )
    .option(...dataFlag)
    .action(async (flags) => (await import('../access/secrets-command.ts')).rotateSecrets(flags))

  secrets
    .command('reset')
    .description(
      'when a key is lost for good: delete the secrets that it encrypted, print new secrets for apps, revoke all tokens, and list what else must be replaced',
    )
    .option('--yes', 'do it; without this option, print what would be lost')
    .option(...dataFlag)
    .action(async (flags) => (await import('../access/secrets-command.ts')).resetLostSecrets(flags))
}
