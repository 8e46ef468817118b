import { type Command, Option } from 'commander'
import { dataFlag, jsonFlag, tokenFlag, urlFlag } from './flags.ts'

/** Commands about what is in the store: a search, deliveries, records of writes, templates, users, files. */
export function addRecordCommands(program: Command): void {
  program
    .command('find')
    .description(
      'find messages, deliveries, traces, calls, users and nodes by an id, a phone number, or words of a name or of a message; newest first',
    )
    .argument('<q...>', 'an id, a phone number as people write it, or whole words: what has all of them is found')
    .option(
      '--kind <kind>',
      'only this kind: message, delivery, trace, call, user, or the kind of a node such as template',
    )
    .option('--since <when>', 'only since a duration ago, such as 24h, or since a time')
    .option('--until <when>', 'only before that')
    .option('--limit <n>', 'how many', '25')
    .option(...jsonFlag)
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (words, flags) => (await import('../records/find.ts')).find(words, flags))

  const deliveries = program.command('deliveries').description('the webhook log: show deliveries and replay them')
  deliveries
    .command('list')
    .description('list the newest deliveries')
    .option('--failed', 'only deliveries that failed, or that failed so far and will be retried')
    .option('--account <id>', 'only those of one account')
    .option('--since <when>', 'only those raised since a duration ago, such as 1h, or since a time')
    .option('--until <when>', 'only those raised before that')
    .option('--limit <n>', 'how many', '50')
    .addOption(new Option(...jsonFlag).conflicts('watch'))
    .option('--watch', 'show the state of deliveries, every second, until Ctrl-C')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('../records/deliveries.ts')).listDeliveries(flags))
  deliveries
    .command('show')
    .description('show a delivery with every attempt, and the exact headers and body that were sent')
    .argument('<id>')
    .option('--json', 'print all fields as one JSON object')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (id, flags) => (await import('../records/show-delivery.ts')).showDelivery(id, flags))
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
    .action(async (ids, flags) => (await import('../records/replay-command.ts')).replayDeliveries(ids, flags))
  deliveries
    .command('replays')
    .description('list the newest replay jobs')
    .option(...jsonFlag)
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (flags) => (await import('../records/replays.ts')).listReplays(flags))
  deliveries
    .command('stop-replay')
    .description('stop a replay job; deliveries that it has sent again are not undone')
    .argument('<id>')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (id, flags) => (await import('../records/replays.ts')).stopReplay(id, flags))

  program
    .command('why')
    .description(
      'say what became of a message, delivery, trace, call or request, and of its webhook at each subscriber',
    )
    .argument('<id>', 'the id of a message, a delivery, a call or a request, or a trace')
    .option('--json', 'print all fields as one JSON object')
    .option(...dataFlag)
    .option(...urlFlag)
    .option(...tokenFlag)
    .action(async (id, flags) => (await import('../records/why.ts')).why(id, flags))

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
    .action(async (flags) => (await import('../records/audit.ts')).listAudit(flags))

  const templates = program.command('templates').description('list and review message templates')
  templates
    .command('list')
    .description('list the newest templates')
    .option('--status <status>', 'only templates in this state: PENDING, APPROVED, REJECTED, PAUSED or DISABLED')
    .option('--account <id>', 'only those of one account')
    .option('--limit <n>', 'how many', '50')
    .option(...jsonFlag)
    .option(...dataFlag)
    .action(async (flags) => (await import('../records/templates.ts')).listTemplates(flags))
  for (const [name, status, description] of [
    ['approve', 'APPROVED', 'approve a template that waits for its review or is paused, so that it can be sent'],
    ['pause', 'PAUSED', 'pause an approved template, so that it cannot be sent'],
  ] as const) {
    templates
      .command(name)
      .description(description)
      .argument('<id>')
      .option(...dataFlag)
      .action(async (id, flags) => (await import('../records/templates.ts')).review(id, status, flags))
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
    .action(async (id, flags) => (await import('../records/templates.ts')).review(id, 'REJECTED', flags))

  program
    .command('forget')
    .description(
      "erase a user's name, settings and the contents of all messages with the user, also in the webhook log; windows, blocks and statuses without contents stay",
    )
    .argument('<user>', "the user's phone number, digits only")
    .option(...dataFlag)
    .action(async (user, flags) => (await import('../records/forget.ts')).forget(user, flags))

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
    .action(async (flags) => (await import('../running/files-copy.ts')).copy(flags))
}
