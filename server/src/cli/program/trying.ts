import type { Command } from 'commander'
import { addressFlag, dataFlag, forServer } from './flags.ts'

/** Commands to try the service out and to test against it. */
export function addTryingCommands(program: Command, local: string): void {
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
    .action(async (flags) => (await import('../listen/listen.ts')).listen(flags))

  addSimulate(program, local)
  addAgent(program, local)
  forServer(program.command('wait'), local)
    .description('wait for the first record of a type on a running server, and print it; for tests')
    .argument('<type>', 'request, event, delivery, try, message, call, timer or replay')
    .option('--account <id>', 'only of this account')
    .option('--number <id>', 'only of this Phone-Number-ID')
    .option('--field <field>', 'only of this webhook field, such as messages')
    .option('--kind <kind>', 'only of this kind: the type of a message, a status, the event of a call')
    .option('--message <id>', 'only about this message')
    .option('--after <id>', 'only what came after the record with this id, which an earlier wait printed')
    .option('--since <when>', 'include records since a duration ago, such as 10s, or since a time')
    .option('--timeout <duration>', 'how long to wait, at most 60s (default: 30s)')
    .action(async (type, flags) => (await import('../running/status.ts')).waitForFeedItem(type, flags))
  addSandboxCommands(program, local)
}

/** What users do, through the gateway of a running server. */
function addSimulate(program: Command, local: string): void {
  const simulate = program
    .command('simulate')
    .description('act as a user: write to, call and join a business through the gateway of a running server')
  const forGateway = (command: Command): Command =>
    command
      .option('--url <base>', `the server (default: at HOST and PORT, ${local})`)
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
    .action(async (flags) => (await import('../simulate/simulate.ts')).simulateMessage(flags))
  forGateway(simulate.command('status <message_id> <action>'))
    .description("a user's phone reports an action on a message: deliver, read, play, fail or delete")
    .option('--user <wa_id>', 'the participant, for a message of a group')
    .option('--code <code>', 'the error code, with fail')
    .action(async (id, action, flags) => (await import('../simulate/simulate.ts')).simulateStatus(id, action, flags))
  forGateway(simulate.command('press <message_id> [choice]'))
    .description('a user presses a button or row of a message; choice is its id, or accept or reject')
    .option('--user <wa_id>', 'the participant, for a message of a group')
    .option('--data <json>', 'the reply to a location request, products or a flow')
    .action(async (id, choice, flags) => (await import('../simulate/simulate.ts')).simulatePress(id, choice, flags))
  forGateway(simulate.command('call'))
    .description('a user calls a phone number, or acts on a call')
    .option('--to <id>', 'the Phone-Number-ID to call')
    .option('--from <wa_id>', 'the user who calls, digits only')
    .option('--name <name>', "the user's name")
    .option('--ring <call_id>', "the user's phone rings")
    .option('--answer <call_id>', 'the user picks up')
    .option('--reject <call_id>', 'the user rejects the call')
    .option('--hang-up <call_id>', 'the user ends the call')
    .option(
      '--audio <file>',
      'with sound: the file that the user says, round and round: Ogg Opus, or WAV (PCM, 16 bit)',
    )
    .option('--record <file>', 'with sound: where what the user hears is written, as Ogg Opus')
    .option('--dtmf <keys>', 'with sound: keys that the user presses half a second after the connection')
    .option('--for <duration>', 'how long the user stays (default: the length of the file, otherwise 5s)')
    .option('--loss <percent>', 'the share of the packets to leave out')
    .option('--expect-sound', 'end with 1 when the user heard silence')
    .addOption(addressFlag())
    .option('--json', 'with sound: print what happens, one JSON object per line')
    .action(async (flags) => (await import('../simulate/simulate.ts')).simulateCall(flags))
  forGateway(simulate.command('permission'))
    .description('a user grants or denies a phone number the permission to call')
    .requiredOption('--number <id>', 'the Phone-Number-ID')
    .requiredOption('--user <wa_id>', 'the user, digits only')
    .option('--status <status>', 'granted, pending or denied', 'granted')
    .action(async (flags) => (await import('../simulate/simulate.ts')).simulatePermission(flags))
  forGateway(simulate.command('join'))
    .description('a user follows the invite link of a group')
    .requiredOption('--link <url>', 'the invite link')
    .requiredOption('--user <wa_id>', 'the user, digits only')
    .option('--name <name>', "the user's name")
    .action(async (flags) => (await import('../simulate/simulate.ts')).simulateJoin(flags))
}

/** What a business does in calls, through the API of a running server. */
function addAgent(program: Command, local: string): void {
  program
    .command('agent')
    .description(
      "run a business's voice agent: take the calls of a number, instead of the number's own callback, and speak; Ctrl-C ends its calls and restores the callback",
    )
    .argument(
      '[mode]',
      'echo says back what it hears, tone plays a sine, beep plays 200 ms of it every second, record says nothing',
    )
    .requiredOption('--number <id>', 'the Phone-Number-ID')
    .option('--url <base>', `the server (SWITCHBOARD_URL; default: at HOST and PORT, ${local})`)
    .option('--token <token>', "a token of the business (SWITCHBOARD_BUSINESS_TOKEN; default: the demo's)")
    .option('--call <wa_id>', 'call this user, once, and end with that call')
    .option('--hz <n>', 'the frequency of the sine (default: 440)')
    .option(
      '--record <file>',
      'where what the agent hears is written, as Ogg Opus; later calls get files with a number',
    )
    .addOption(addressFlag())
    .option('--port <n>', 'the port of its callback; 0 takes a free one', '0')
    .option('--json', 'print what happens, one JSON object per line')
    .option('--restore', 'only restore the callback that a killed agent replaced')
    .action(async (mode, flags) => (await import('../voice/agent.ts')).runVoiceAgent(mode, flags))
}

/** What only a sandbox can do, through the operator door of a running server. */
function addSandboxCommands(program: Command, local: string): void {
  const forOperator = (command: Command): Command => forServer(command, local)
  const load = () => import('../running/sandbox.ts')
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
  const clock = program.command('clock').description('in a sandbox: read or move the clock of the service')
  forOperator(clock)
    .option('--advance <duration>', 'how far to move it forward, such as 24h')
    .option('--set <time>', 'the new time, in ISO 8601')
    .option('--real', 'return to the real time')
    .action(async (flags) => (await load()).moveClock(flags))
  clock
    .command('accept')
    .description(
      'in any store: accept that time has gone forward by days, so that servers delete and give up what is old again',
    )
    .option(...dataFlag)
    .action(async (flags) => (await import('../running/accept-clock.ts')).acceptClock(flags))
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
