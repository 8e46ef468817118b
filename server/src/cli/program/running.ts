import { type Command, Option } from 'commander'
import { packageVersion } from '../../version.ts'
import type { LocalAddress } from '../local-url.ts'
import { addressFlag, dataFlag, forServer, tokenFlag, urlFlag } from './flags.ts'

/** Commands that run the service and fill its store. */
export function addRunningCommands(program: Command, { host, port }: LocalAddress, local: string): void {
  for (const [name, description, banner] of [
    ['serve', 'run the server', false],
    ['start', 'run the server and print its addresses and a first request', true],
  ] as const) {
    program
      .command(name)
      .description(description)
      .option('--port <n>', `the port to listen on; 0 takes a free one (default: PORT, ${port})`)
      .option('--host <h>', `the address to listen on (default: HOST, ${host})`)
      .option(...dataFlag)
      .option('--world <file>', 'a world file to apply at the start (WORLD)')
      .option(
        '--role <role>',
        "what this process does: all, api or worker (ROLE); or media, which plays users' phones with sound for the server at --url",
      )
      .option('--url <base>', 'with --role media: the server')
      .option('--token <token>', 'with --role media: a token with the scope gateway (SWITCHBOARD_GATEWAY_TOKEN)')
      .addOption(addressFlag())
      .action(async (flags) =>
        flags.role === 'media'
          ? (await import('../voice/media-role.ts')).serveMedia(flags)
          : (await import('../running/serve.ts')).serve(flags, { banner }),
      )
  }

  forServer(program.command('status'), local)
    .description('show the state of a running server: version, store, processes, objects, waiting deliveries')
    .option('--json', 'print all fields as one JSON object')
    .action(async (flags) => (await import('../running/status.ts')).showStatus(flags))

  program
    .command('apply')
    .description(
      'apply a world file to the store: create or update objects, never delete them; lists of access and links become exactly the lists of the file',
    )
    .argument('<file>')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (file, flags) => (await import('../running/apply.ts')).apply(file, flags))

  program
    .command('export')
    .description(
      'write the store as a world file, which apply restores; the file holds the secrets of apps, but no tokens, because the store has only their hashes',
    )
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('../running/export.ts')).exportStore(flags))

  program
    .command('migrate')
    .description('update the schema of the database')
    .option('--check', 'only say what would run, and what it would lock; exit code 2 if there is something')
    .option(...dataFlag)
    .action(async (flags) => (await import('../running/migrate.ts')).runMigrations(flags))

  program
    .command('restored')
    .description(
      'for a store that was restored from a backup: hold what it would send again (webhooks, codes, fetches of links) while servers serve requests, and release it; without an option, say what waits',
    )
    .option('--hold', 'from now on nothing is sent, by any server of the store')
    .addOption(new Option('--release', 'what waits is sent').conflicts('hold'))
    .option('--withdraw-waiting', 'with --release: give up the webhooks and codes that waited when it was held')
    .option(...dataFlag)
    .action(async (flags) => (await import('../running/restored.ts')).restored(flags))

  program
    .command('version')
    .description('print the version')
    .action(() => {
      process.stdout.write(`${packageVersion()}\n`)
    })
}
