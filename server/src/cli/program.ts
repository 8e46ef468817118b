import { Command, Option } from 'commander'
import { processEnvironment } from '../base/environment.ts'
import { packageVersion } from '../version.ts'
import { findLocalAddress, writeLocalUrl } from './local-url.ts'

const dataFlag = ['--data <dir>', 'the folder of the embedded store (DATA_DIR)'] as const
const urlFlag = ['--url <base>', 'use a running server instead of the store (SWITCHBOARD_URL)'] as const
const tokenFlag = [
  '--token <token>',
  "for a server: a token with the scope operator (SWITCHBOARD_TOKEN; default: the demo's)",
] as const

/** For a command that always uses a server. */
function forServer(command: Command, local: string): Command {
  return command
    .option('--url <base>', `the server (SWITCHBOARD_URL; default: at HOST and PORT, ${local})`)
    .option(...tokenFlag)
}
const jsonFlag = ['--json', 'print all fields, one JSON object per line'] as const

/** A flag that may be repeated; `nothing` says what applies without it. */
function repeatable(flag: string, description: string, nothing: string): Option {
  return new Option(flag, `${description}; repeat for several`)
    .argParser((value: string, soFar: string[]) => [...soFar, value])
    .default([], nothing)
}

/**
 * The command line: the help of each command is here, its work in its own file, which is loaded only for that command: most commands
 * need a small part of the service, and a person waits for them.
 */
export function buildProgram(): Command {
  const { host, port } = findLocalAddress(processEnvironment())
  const program = new Command('switchboard')
    .description('A self-hosted business messaging platform.')
    .version(packageVersion(), '-v, --version', 'print the version')
  program
    .command('version')
    .description('print the version')
    .action(() => {
      process.stdout.write(`${packageVersion()}\n`)
    })

  for (const [name, description, banner] of [
    ['serve', 'run the server', false],
    ['start', 'run the server and print its addresses and a first request, as npm start does', true],
  ] as const) {
    program
      .command(name)
      .description(description)
      .option('--port <n>', `the port to listen on; 0 takes a free one (default: PORT, ${port})`)
      .option('--host <h>', `the address to listen on (default: HOST, ${host})`)
      .option(...dataFlag)
      .option('--world <file>', 'a world file to apply at the start (WORLD)')
      .option('--role <role>', 'what this process does: all, api or worker (ROLE)')
      .action(async (flags) => (await import('./serve.ts')).serve(flags, { banner }))
  }

  program
    .command('apply')
    .description(
      'apply a world file to the store: create or update objects, never delete them; lists of access and links become exactly the lists of the file',
    )
    .argument('<file>')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (file, flags) => (await import('./apply.ts')).apply(file, flags))

  program
    .command('export')
    .description(
      'write the store as a world file, which apply restores; the file holds the secrets of apps, but no tokens, because the store has only their hashes',
    )
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./export.ts')).exportStore(flags))

  program
    .command('migrate')
    .description('update the schema of the database')
    .option(...dataFlag)
    .action(async (flags) => (await import('./migrate.ts')).runMigrations(flags))

  program
    .command('gen')
    .description(
      "write the files that are generated from the code: openapi/, docs/operations.md, docs/errors.md, docs/settings.md, docs/spec/, the README's settings, the client's methods",
    )
    .option('--check', 'write nothing; fail if a file is out of date')
    .action(async (flags) => (await import('./gen.ts')).generate(flags))

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
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./token.ts')).createToken(flags))
  token
    .command('list')
    .description('list tokens, without their secrets')
    .option(...jsonFlag)
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./token.ts')).listTokens(flags))
  token
    .command('revoke')
    .description('revoke a token')
    .argument('<id>')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (id, flags) => (await import('./token.ts')).revokeTokenById(id, flags))

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
    .action(async (flags) => (await import('./console-link.ts')).printConsoleLink(flags))

  const local = writeLocalUrl({ host, port })
  forServer(program.command('status'), local)
    .description('show the state of a running server: version, store, processes, objects, waiting deliveries')
    .option('--json', 'print all fields as one JSON object')
    .action(async (flags) => (await import('./status.ts')).showStatus(flags))
  forServer(program.command('wait'), local)
    .description('wait for the first record of a type on a running server, and print it; for tests')
    .argument('<type>', 'request, event, delivery, try, message, call, timer or replay')
    .option('--account <id>', 'only of this account')
    .option('--number <id>', 'only of this Phone-Number-ID')
    .option('--since <when>', 'include records since a duration ago, such as 10s, or since a time')
    .option('--timeout <duration>', 'how long to wait, at most 60s (default: 30s)')
    .action(async (type, flags) => (await import('./status.ts')).waitForHappening(type, flags))

  const signingKey = program
    .command('signing-key')
    .description('list and rotate the keys that sign the public keys of businesses')
  signingKey
    .command('list')
    .description('list signing keys, without their secrets')
    .option(...jsonFlag)
    .option(...dataFlag)
    .action(async (flags) => (await import('./signing-key.ts')).listSigningKeys(flags))
  signingKey
    .command('rotate')
    .description('create a signing key and replace the signatures of the earlier keys')
    .option(...dataFlag)
    .action(async (flags) => (await import('./signing-key.ts')).rotate(flags))

  const secrets = program
    .command('secrets')
    .description('create, list and rotate the keys that encrypt the secrets in the store')
  secrets
    .command('generate-key')
    .description('print a new key for SECRETS_KEY')
    .action(async () => (await import('./secrets.ts')).generateKey())
  secrets
    .command('list')
    .description('list the ids of the keys that the store needs, without the keys')
    .option(...jsonFlag)
    .option(...dataFlag)
    .action(async (flags) => (await import('./secrets.ts')).listKeys(flags))
  secrets
    .command('rotate')
    .description(
      'encrypt every secret with the new key: SECRETS_KEY if it is set, otherwise a new key in the key file; an interrupted rotation continues at the next run',
    )
    .option(...dataFlag)
    .action(async (flags) => (await import('./secrets.ts')).rotateSecrets(flags))

  secrets
    .command('reset')
    .description(
      'when a key is lost for good: delete the secrets that it encrypted, print new secrets for apps, revoke all tokens, and list what else must be replaced',
    )
    .option('--yes', 'do it; without this option, print what would be lost')
    .option(...dataFlag)
    .action(async (flags) => (await import('./secrets.ts')).resetLostSecrets(flags))

  const audit = program.command('audit').description('show who did what')
  audit
    .command('list')
    .description('list the newest records of writes')
    .option('--account <id>', 'only records of this account and its objects')
    .option('--limit <n>', 'the most records to list', '50')
    .option(...jsonFlag)
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./audit.ts')).listAudit(flags))

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
    .action(async (id, flags) => (await import('./app-secret.ts')).rotateAppSecret(id, flags))

  const deliveries = program.command('deliveries').description('the webhook log: show deliveries and replay them')
  deliveries
    .command('list')
    .description('list the newest deliveries')
    .option('--failed', 'only deliveries that failed, or that failed so far and will be retried')
    .option('--account <id>', 'only those of one account')
    .option('--limit <n>', 'how many', '50')
    .addOption(new Option(...jsonFlag).conflicts('watch'))
    .option('--watch', 'show the state of deliveries, every second, until Ctrl-C')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./deliveries.ts')).listDeliveries(flags))
  deliveries
    .command('show')
    .description('show a delivery with every attempt, and the exact headers and body that were sent')
    .argument('<id>')
    .option('--json', 'print all fields as one JSON object')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (id, flags) => (await import('./show-delivery.ts')).showDelivery(id, flags))
  deliveries
    .command('replay')
    .description(
      'send deliveries again, in any state, to the current callback of their app: by their ids, or all that the options select; many are sent as a job',
    )
    .argument('[id...]')
    .option('--state <state>', 'only deliveries in this state: waiting, failing, delivered, failed or withdrawn')
    .option('--app <id>', 'only deliveries to this app')
    .option('--account <id>', 'only deliveries of this account')
    .option('--number <id>', 'only deliveries of this Phone-Number-ID')
    .option('--field <field>', 'only deliveries of this webhook field')
    .option('--since <when>', 'only deliveries raised since a duration ago, such as 24h, or since a time')
    .option('--until <when>', 'only deliveries raised before that')
    .option('--to <url>', 'another address to send them to')
    .option('--no-wait', 'start the job and return at once, instead of showing its progress until it is done')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (ids, flags) => (await import('./replay.ts')).replayDeliveries(ids, flags))
  deliveries
    .command('replays')
    .description('list the newest replay jobs')
    .option(...jsonFlag)
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./replays.ts')).listReplays(flags))
  deliveries
    .command('stop-replay')
    .description('stop a replay job; deliveries that it has sent again are not undone')
    .argument('<id>')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (id, flags) => (await import('./replays.ts')).stopReplay(id, flags))

  program
    .command('forget')
    .description(
      "erase a user's name, settings and the contents of all messages with the user, also in the webhook log; windows, blocks and statuses without contents stay",
    )
    .argument('<user>', "the user's phone number, digits only")
    .option(...dataFlag)
    .action(async (user, flags) => (await import('./forget.ts')).forget(user, flags))

  const templates = program.command('templates').description('list and review message templates')
  templates
    .command('list')
    .description('list the newest templates')
    .option('--status <status>', 'only templates in this state: PENDING, APPROVED, REJECTED, PAUSED or DISABLED')
    .option('--account <id>', 'only those of one account')
    .option('--limit <n>', 'how many', '50')
    .option(...jsonFlag)
    .option(...dataFlag)
    .action(async (flags) => (await import('./templates.ts')).listTemplates(flags))
  for (const [name, status, description] of [
    ['approve', 'APPROVED', 'approve a template that waits for its review or is paused, so that it can be sent'],
    ['pause', 'PAUSED', 'pause an approved template, so that it cannot be sent'],
  ] as const) {
    templates
      .command(name)
      .description(description)
      .argument('<id>')
      .option(...dataFlag)
      .action(async (id, flags) => (await import('./templates.ts')).review(id, status, flags))
  }
  templates
    .command('reject')
    .description('reject a template that waits for its review')
    .argument('<id>')
    .requiredOption(
      '--reason <reason>',
      'ABUSIVE_CONTENT, INCORRECT_CATEGORY, INVALID_FORMAT, PROMOTIONAL, SCAM or TAG_CONTENT_MISMATCH',
    )
    .option(...dataFlag)
    .action(async (id, flags) => (await import('./templates.ts')).review(id, 'REJECTED', flags))

  program
    .command('files')
    .description('copy the media, pictures and uploads of the store')
    .command('copy')
    .description(
      'copy every file of the store from one storage to another: disk (the folders in DATA_DIR), the path of another such folder, or s3://bucket/prefix?endpoint=…&region=…; run it again after an interruption, and once more after the servers are stopped',
    )
    .requiredOption('--from <storage>', 'where the files are')
    .requiredOption('--to <storage>', 'where to copy them; files that are there already are skipped')
    .option(...dataFlag)
    .action(async (flags) => (await import('./files-copy.ts')).copy(flags))

  program
    .command('listen')
    .description(
      "receive an app's events instead of the app's own callback, and print each with its signatures checked (✓ or ✗); Ctrl-C restores the callback",
    )
    .option('--app <id>', 'the app (default: the only app, or the app of the demo world)')
    .option('--port <n>', 'the port to listen on, on 127.0.0.1; 0 takes a free one', '0')
    .option(
      '--url <base>',
      'the address at which the server reaches that port, if the server is not on this machine; in production a public https address, unless ALLOW_INTERNAL_CALLBACKS is true',
    )
    .option(
      '--forward-to <url>',
      "forward each event to your own server with the same bytes and headers, and respond with its status (502 if it can't be reached)",
    )
    .option(
      '--since <when>',
      'first show events since a duration ago such as 10m, a time such as 2026-11-15T16:30:00Z, or the id of a delivery',
    )
    .option('--json', 'print whole bodies, one per line')
    .option('--restore', 'only restore the callback that a killed listen replaced')
    .option(...dataFlag)
    .action(async (flags) => (await import('./listen.ts')).listen(flags))

  const simulate = program
    .command('simulate')
    .description('act as a user: write to, call and join a business through the gateway of a running server')
  const forGateway = (command: Command): Command =>
    command
      .option('--url <base>', `the server (default: at HOST and PORT, ${writeLocalUrl({ host, port })})`)
      .option('--token <token>', "a token with the scope gateway (SWITCHBOARD_GATEWAY_TOKEN; default: the demo's)")
  forGateway(simulate.command('message'))
    .description('a user writes to a phone number')
    .requiredOption('--to <id>', 'the Phone-Number-ID')
    .requiredOption('--from <wa_id>', "the user's phone number, digits only")
    .option(
      '--type <type>',
      'text, image, location, button, …; an unknown type lists all (default: the type of --file, otherwise text)',
    )
    .option('--text <text>', 'the text of the message, or the caption of its file')
    .option('--file <path>', 'an image, video, audio file, document or sticker to send; the business can fetch it')
    .option('--reply-to <wamid>', 'the message to reply or react to')
    .option('--payload <payload>', 'the payload of the pressed button, with --type button or interactive')
    .option('--name <name>', "the user's name")
    .action(async (flags) => (await import('./simulate.ts')).simulateMessage(flags))
  forGateway(simulate.command('status <message_id> <action>'))
    .description("a user's phone reports an action on a message: deliver, read, play, fail or delete")
    .option('--user <wa_id>', 'the participant, for a message of a group')
    .option('--code <code>', 'the error code, with fail')
    .action(async (id, action, flags) => (await import('./simulate.ts')).simulateStatus(id, action, flags))
  forGateway(simulate.command('press <message_id> [choice]'))
    .description('a user presses a button or row of a message; choice is its id, or accept or reject')
    .option('--user <wa_id>', 'the participant, for a message of a group')
    .option('--data <json>', 'the reply to a location request, products or a flow')
    .action(async (id, choice, flags) => (await import('./simulate.ts')).simulatePress(id, choice, flags))
  forGateway(simulate.command('call'))
    .description('a user calls a phone number, or acts on a call')
    .option('--to <id>', 'the Phone-Number-ID to call')
    .option('--from <wa_id>', 'the user who calls, digits only')
    .option('--name <name>', "the user's name")
    .option('--ring <call_id>', "the user's phone rings")
    .option('--answer <call_id>', 'the user picks up')
    .option('--reject <call_id>', 'the user rejects the call')
    .option('--hang-up <call_id>', 'the user ends the call')
    .action(async (flags) => (await import('./simulate.ts')).simulateCall(flags))
  forGateway(simulate.command('permission'))
    .description('a user grants or denies a phone number the permission to call')
    .requiredOption('--number <id>', 'the Phone-Number-ID')
    .requiredOption('--user <wa_id>', 'the user, digits only')
    .option('--status <status>', 'granted, pending or denied', 'granted')
    .action(async (flags) => (await import('./simulate.ts')).simulatePermission(flags))
  forGateway(simulate.command('join'))
    .description('a user follows the invite link of a group')
    .requiredOption('--link <url>', 'the invite link')
    .requiredOption('--user <wa_id>', 'the user, digits only')
    .option('--name <name>', "the user's name")
    .action(async (flags) => (await import('./simulate.ts')).simulateJoin(flags))

  addSandboxCommands(program, local)
  pointToHelp(program, './switchboard')
  return program
}

/** What only a sandbox can do, through the operator door of a running server. */
function addSandboxCommands(program: Command, local: string): void {
  const forOperator = (command: Command): Command => forServer(command, local)
  const load = () => import('./sandbox.ts')
  const snapshot = program.command('snapshot').description('in a sandbox: save and restore the whole store')
  forOperator(snapshot.command('save <name>'))
    .description('save the whole store; a snapshot of the same name is replaced')
    .action(async (name, flags) => (await load()).saveSnapshot(name, flags))
  forOperator(snapshot.command('restore <name>'))
    .description('restore the store from a snapshot')
    .action(async (name, flags) => (await load()).restoreSnapshot(name, flags))
  forOperator(snapshot.command('list'))
    .description('list snapshots')
    .action(async (flags) => (await load()).listSnapshots(flags))
  forOperator(snapshot.command('delete <name>'))
    .description('delete a snapshot')
    .action(async (name, flags) => (await load()).deleteSnapshot(name, flags))
  forOperator(program.command('clock'))
    .description('in a sandbox: read or move the clock of the service')
    .option('--advance <duration>', 'how far to move it forward, such as 24h')
    .option('--set <time>', 'the new time, in ISO 8601')
    .option('--real', 'return to the real time')
    .action(async (flags) => (await load()).moveClock(flags))
  forOperator(program.command('reset'))
    .description('in a sandbox: empty the store and apply a world')
    .option('--world <file>', 'a world file (default: the world file of the start)')
    .action(async (flags) => (await load()).reset(flags))
  const faults = program.command('faults').description('in a sandbox: make requests and webhooks fail on purpose')
  forOperator(faults.command('list'))
    .description('list the rules and the number of hits of each')
    .action(async (flags) => (await load()).listFaults(flags))
  forOperator(faults.command('set <file>'))
    .description('replace the rules with the rules of a JSON file')
    .action(async (file, flags) => (await load()).setFaults(file, flags))
  forOperator(faults.command('clear'))
    .description('remove all rules, and send held webhooks')
    .action(async (flags) => (await load()).clearFaults(flags))
}

/** A mistake in a command points to the help of that command. */
function pointToHelp(command: Command, line: string): void {
  command.showHelpAfterError(`(see ${line} --help)`)
  for (const part of command.commands) pointToHelp(part, `${line} ${part.name()}`)
}
