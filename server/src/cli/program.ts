import { Command, Option } from 'commander'
import { processEnvironment } from '../base/environment.ts'
import { packageVersion } from '../version.ts'
import { findLocalAddress, writeLocalUrl } from './local-url.ts'

const dataFlag = ['--data <dir>', 'the folder of the embedded store (DATA_DIR)'] as const
const urlFlag = ['--url <base>', 'a running server to ask instead of the store (SWITCHBOARD_URL)'] as const
const tokenFlag = [
  '--token <token>',
  "for a server: a token with the scope operator (SWITCHBOARD_TOKEN; default: the demo's)",
] as const

/** For a command that always asks a server. */
function forServer(command: Command, local: string): Command {
  return command
    .option('--url <base>', `the server (SWITCHBOARD_URL; default: at HOST and PORT, ${local})`)
    .option(...tokenFlag)
}
const jsonFlag = ['--json', 'print all that is known, one JSON object a line'] as const

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
    ['start', 'run the server and greet a newcomer: what npm start does', true],
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
      'bring the store to what a world file says: create or update objects, never delete them; lists of access and links become exactly what the file lists',
    )
    .argument('<file>')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (file, flags) => (await import('./apply.ts')).apply(file, flags))

  program
    .command('export')
    .description(
      'write the store as a world file, which apply turns back into the same; it holds the secrets of apps, and no tokens, of which only hashes are stored',
    )
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./export.ts')).exportStore(flags))

  program
    .command('migrate')
    .description("bring the database's schema up to date")
    .option(...dataFlag)
    .action(async (flags) => (await import('./migrate.ts')).runMigrations(flags))

  program
    .command('gen')
    .description(
      "write the files that are made from the code: openapi/, docs/operations.md, docs/errors.md, docs/settings.md, docs/spec/, the README's settings",
    )
    .option('--check', 'write nothing; fail when one of them differs')
    .action(async (flags) => (await import('./gen.ts')).generate(flags))

  const token = program.command('token').description('make, list and revoke system user tokens')
  token
    .command('create')
    .description('print a new token, once')
    .requiredOption('--app <id>', 'the app that it acts for')
    .addOption(repeatable('--scope <scope>', 'what it may do', 'both business scopes'))
    .addOption(repeatable('--account <id>', 'the only account that it sees', "all that the app's business sees"))
    .addOption(
      repeatable(
        '--business <id>',
        'with the scope operator: the only business, with all that is its, that it sees',
        'all',
      ),
    )
    .option('--expires <duration>', 'its lifetime, such as 12h or 60d (default: for ever)')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./token.ts')).createToken(flags))
  token
    .command('list')
    .description('list tokens, never their secrets')
    .option(...jsonFlag)
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./token.ts')).listTokens(flags))
  token
    .command('revoke')
    .description('end a token')
    .argument('<id>')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (id, flags) => (await import('./token.ts')).revokeTokenById(id, flags))

  program
    .command('console')
    .description('sign in to the console')
    .command('link')
    .description('print a link that signs somebody in to the console, once')
    .option('--for <name>', 'who it is for', 'operator')
    .option('--expires <duration>', 'how long the link can be used', '1h')
    .addOption(repeatable('--account <id>', 'an account that is seen', 'all'))
    .addOption(repeatable('--business <id>', 'a business that is seen, with all that is its', 'all'))
    .option(...dataFlag)
    .action(async (flags) => (await import('./console-link.ts')).printConsoleLink(flags))

  const local = writeLocalUrl({ host, port })
  forServer(program.command('status'), local)
    .description('show how a running server is: version, store, processes, what is in it, what waits')
    .option('--json', 'print all that is known as one JSON object')
    .action(async (flags) => (await import('./status.ts')).showStatus(flags))
  forServer(program.command('wait'), local)
    .description('wait until something has happened on a running server, and print it; for tests')
    .argument('<type>', 'request, event, delivery, try, message, call, timer or replay')
    .option('--account <id>', 'only of this account')
    .option('--number <id>', 'only of this Phone-Number-ID')
    .option('--since <when>', 'also what has happened since then: a duration such as 10s, or a time')
    .option('--timeout <duration>', 'how long, at most 60s (default: 30s)')
    .action(async (type, flags) => (await import('./status.ts')).waitForHappening(type, flags))

  const signingKey = program
    .command('signing-key')
    .description('list and rotate the keys that sign the public keys of businesses')
  signingKey
    .command('list')
    .description('list signing keys, never their secrets')
    .option(...jsonFlag)
    .option(...dataFlag)
    .action(async (flags) => (await import('./signing-key.ts')).listSigningKeys(flags))
  signingKey
    .command('rotate')
    .description('make a new signing key and replace the signatures of the earlier ones')
    .option(...dataFlag)
    .action(async (flags) => (await import('./signing-key.ts')).rotate(flags))

  const secrets = program
    .command('secrets')
    .description('the keys that seal the secrets in the store: make, list and rotate them')
  secrets
    .command('generate-key')
    .description('print a new key for SECRETS_KEY')
    .action(async () => (await import('./secrets.ts')).generateKey())
  secrets
    .command('list')
    .description('list the ids of the keys that the store needs, never the keys')
    .option(...jsonFlag)
    .option(...dataFlag)
    .action(async (flags) => (await import('./secrets.ts')).listKeys(flags))
  secrets
    .command('rotate')
    .description(
      'seal every secret again: with SECRETS_KEY if it is set, otherwise with a new key in the key file; if interrupted, it continues the next time',
    )
    .option(...dataFlag)
    .action(async (flags) => (await import('./secrets.ts')).rotateSecrets(flags))

  secrets
    .command('reset')
    .description(
      'when a key is lost for good: give up what it sealed, print new secrets for apps, and say what else must be handed out anew; all tokens end',
    )
    .option('--yes', 'do it; without this, say what would be lost')
    .option(...dataFlag)
    .action(async (flags) => (await import('./secrets.ts')).resetLostSecrets(flags))

  const audit = program.command('audit').description('show who did what')
  audit
    .command('list')
    .description('list the newest records of writes, never the secrets of tokens')
    .option('--account <id>', 'only what was done to this account and what hangs on it')
    .option('--limit <n>', 'how many records at the most', '50')
    .option(...jsonFlag)
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./audit.ts')).listAudit(flags))

  const app = program.command('app').description('look after apps')
  app
    .command('rotate-secret')
    .description("print a new secret for signing an app's webhooks, once; the old one goes on for a while")
    .argument('<id>')
    .option('--overlap <duration>', 'how long the old secret is good as well', '24h')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (id, flags) => (await import('./app-secret.ts')).rotateAppSecret(id, flags))

  const deliveries = program.command('deliveries').description('the webhook log: show deliveries and replay them')
  deliveries
    .command('list')
    .description('list the newest deliveries')
    .option('--failed', 'only those that were given up or have failed so far')
    .option('--account <id>', 'only those of one account')
    .option('--limit <n>', 'how many', '50')
    .addOption(new Option(...jsonFlag).conflicts('watch'))
    .option('--watch', 'show how deliveries stand, every second, until Ctrl-C')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./deliveries.ts')).listDeliveries(flags))
  deliveries
    .command('show')
    .description('show a delivery with every try at it, and the exact headers and body that were sent')
    .argument('<id>')
    .option('--json', 'print all that is known as one JSON object')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (id, flags) => (await import('./show-delivery.ts')).showDelivery(id, flags))
  deliveries
    .command('replay')
    .description(
      'send deliveries again, whatever came of them before, to the callback that their app has now: some by their ids, or all that flags select; many are done as a job',
    )
    .argument('[id...]')
    .option('--state <state>', 'only those in this state: waiting, failing, delivered, failed or withdrawn')
    .option('--app <id>', 'only those to this app')
    .option('--account <id>', 'only those of this account')
    .option('--number <id>', 'only those of this Phone-Number-ID')
    .option('--field <field>', 'only those of this field of webhooks')
    .option('--since <when>', 'only those that were raised since then: a duration such as 24h, or a time')
    .option('--until <when>', 'only those that were raised before then')
    .option('--to <url>', 'another address to send them to')
    .option(
      '--no-wait',
      'begin a job and leave it to the servers, instead of showing how far it has come until it is done',
    )
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (ids, flags) => (await import('./replay.ts')).replayDeliveries(ids, flags))
  deliveries
    .command('replays')
    .description('list the newest replays that are or were done as a job')
    .option(...jsonFlag)
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('./replays.ts')).listReplays(flags))
  deliveries
    .command('stop-replay')
    .description('end a replay that is done as a job; what is sent again already stays so')
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
    .argument('<user>', "the user's phone number, digits alone")
    .option(...dataFlag)
    .action(async (user, flags) => (await import('./forget.ts')).forget(user, flags))

  const templates = program.command('templates').description('message templates: look at them and review them')
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
    ['approve', 'APPROVED', 'let a template be sent: one that waits for its review, or one that is paused'],
    ['pause', 'PAUSED', 'let an approved template not be sent for now'],
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
    .description('refuse a template that waits for its review')
    .argument('<id>')
    .requiredOption(
      '--reason <reason>',
      'ABUSIVE_CONTENT, INCORRECT_CATEGORY, INVALID_FORMAT, PROMOTIONAL, SCAM or TAG_CONTENT_MISMATCH',
    )
    .option(...dataFlag)
    .action(async (id, flags) => (await import('./templates.ts')).review(id, 'REJECTED', flags))

  program
    .command('files')
    .description('the media, pictures and uploads of the store')
    .command('copy')
    .description(
      'copy every file of the store from one storage to another: disk (the folders in DATA_DIR), the path of another such folder, or s3://bucket/prefix?endpoint=…&region=…; repeat it after it was stopped, or after servers were',
    )
    .requiredOption('--from <storage>', 'where the files are')
    .requiredOption('--to <storage>', 'where they are to be; what is there already is not copied again')
    .option(...dataFlag)
    .action(async (flags) => (await import('./files-copy.ts')).copy(flags))

  program
    .command('listen')
    .description(
      "show an app's events as they come, with their signatures checked (✓ or ✗), in the place of the app's own callback; Ctrl-C puts everything back",
    )
    .option('--app <id>', 'the app (default: the only one, or that of the demo)')
    .option('--port <n>', 'the port to listen on, on 127.0.0.1; 0 takes a free one', '0')
    .option(
      '--url <base>',
      'where the server reaches that port, when it is not on this machine; in production a public https address, unless ALLOW_INTERNAL_CALLBACKS is true',
    )
    .option(
      '--forward-to <url>',
      "post each event on to your own server, the same bytes under the same headers, and answer as it does (502 where it can't be reached)",
    )
    .option(
      '--since <when>',
      'first show what happened since then: a duration such as 10m, a time such as 2026-11-15T16:30:00Z, or the id of a delivery',
    )
    .option('--json', 'print whole bodies, one a line')
    .option('--restore', 'only put back what a listen that was killed left behind')
    .option(...dataFlag)
    .action(async (flags) => (await import('./listen.ts')).listen(flags))

  const simulate = program
    .command('simulate')
    .description("the users' side: write to, call and join a business through the gateway of a running server")
  const forGateway = (command: Command): Command =>
    command
      .option('--url <base>', `the server (default: at HOST and PORT, ${writeLocalUrl({ host, port })})`)
      .option('--token <token>', "a token with the scope gateway (SWITCHBOARD_GATEWAY_TOKEN; default: the demo's)")
  forGateway(simulate.command('message'))
    .description('a user writes to a phone number')
    .requiredOption('--to <id>', 'the Phone-Number-ID')
    .requiredOption('--from <wa_id>', "the user's phone number, digits alone")
    .option(
      '--type <type>',
      'text, image, location, button, … ; a wrong one lists all (default: what --file is, and without it text)',
    )
    .option('--text <text>', 'what the message says, or the caption of its file')
    .option('--file <path>', 'an image, video, audio file, document or sticker to send; the business can fetch it')
    .option('--reply-to <wamid>', 'the message that it replies or reacts to')
    .option('--payload <payload>', 'what the pressed button holds, with --type button or interactive')
    .option('--name <name>', "the user's name")
    .action(async (flags) => (await import('./simulate.ts')).simulateMessage(flags))
  forGateway(simulate.command('status <message_id> <action>'))
    .description("a user's phone reports what became of a message: deliver, read, play, fail or delete")
    .option('--user <wa_id>', 'the participant, for a message of a group')
    .option('--code <code>', 'why it failed, with fail')
    .action(async (id, action, flags) => (await import('./simulate.ts')).simulateStatus(id, action, flags))
  forGateway(simulate.command('press <message_id> [choice]'))
    .description('a user presses a button or row of a message: its id, or accept or reject')
    .option('--user <wa_id>', 'the participant, for a message of a group')
    .option('--data <json>', 'what a location request, products or a flow are answered with')
    .action(async (id, choice, flags) => (await import('./simulate.ts')).simulatePress(id, choice, flags))
  forGateway(simulate.command('call'))
    .description('a user calls a phone number, or does something about a call')
    .option('--to <id>', 'the Phone-Number-ID to call')
    .option('--from <wa_id>', 'the user who calls, digits alone')
    .option('--name <name>', "the user's name")
    .option('--ring <call_id>', "the user's phone rings")
    .option('--answer <call_id>', 'the user picks up')
    .option('--reject <call_id>', 'the user does not want the call')
    .option('--hang-up <call_id>', 'the user ends the call')
    .action(async (flags) => (await import('./simulate.ts')).simulateCall(flags))
  forGateway(simulate.command('permission'))
    .description('a user says whether a phone number may call')
    .requiredOption('--number <id>', 'the Phone-Number-ID')
    .requiredOption('--user <wa_id>', 'the user, digits alone')
    .option('--status <status>', 'granted, pending or denied', 'granted')
    .action(async (flags) => (await import('./simulate.ts')).simulatePermission(flags))
  forGateway(simulate.command('join'))
    .description('a user follows the invite link of a group')
    .requiredOption('--link <url>', 'the invite link')
    .requiredOption('--user <wa_id>', 'the user, digits alone')
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
  const snapshot = program.command('snapshot').description('in a sandbox: the whole store by name')
  forOperator(snapshot.command('save <name>'))
    .description('save the whole store, instead of what the name had before')
    .action(async (name, flags) => (await load()).saveSnapshot(name, flags))
  forOperator(snapshot.command('restore <name>'))
    .description('bring the store back to what it was then')
    .action(async (name, flags) => (await load()).restoreSnapshot(name, flags))
  forOperator(snapshot.command('list'))
    .description('list snapshots')
    .action(async (flags) => (await load()).listSnapshots(flags))
  forOperator(snapshot.command('delete <name>'))
    .description('delete a snapshot')
    .action(async (name, flags) => (await load()).deleteSnapshot(name, flags))
  forOperator(program.command('clock'))
    .description('in a sandbox: read the clock of the service, or move it')
    .option('--advance <duration>', 'how far to move it forward, such as 24h')
    .option('--set <time>', 'what time it shall be, in ISO 8601')
    .option('--real', 'back to the real time')
    .action(async (flags) => (await load()).moveClock(flags))
  forOperator(program.command('reset'))
    .description('in a sandbox: empty the store and apply a world')
    .option('--world <file>', 'a world file (default: the one of the start)')
    .action(async (flags) => (await load()).reset(flags))
  const faults = program.command('faults').description('in a sandbox: let requests and webhooks go wrong on purpose')
  forOperator(faults.command('list'))
    .description('list the rules, and how often each was hit')
    .action(async (flags) => (await load()).listFaults(flags))
  forOperator(faults.command('set <file>'))
    .description('replace the rules by those of a JSON file')
    .action(async (file, flags) => (await load()).setFaults(file, flags))
  forOperator(faults.command('clear'))
    .description('remove all rules, and let go what they held')
    .action(async (flags) => (await load()).clearFaults(flags))
}

/** A mistake in a command points to the help of that command. */
function pointToHelp(command: Command, line: string): void {
  command.showHelpAfterError(`(see ${line} --help)`)
  for (const part of command.commands) pointToHelp(part, `${line} ${part.name()}`)
}
