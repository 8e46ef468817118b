import { SecretsLocked, SecretUnreadable } from '../../base/keys/key-ring.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { emptiedValue } from '../../db/emptied-value.ts'
import { findDeliveryForOperators } from '../../delivery/history/delivery-log.ts'
import { buildBody, buildHeaders } from '../../delivery/post/compose-post.ts'
import { readLastPlainDelivery } from '../../delivery/post/webhook-id.ts'
import type { Secrets } from '../../delivery/store/signing-secrets.ts'
import { findSecrets } from '../../delivery/store/signing-secrets.ts'
import { packageVersion } from '../../version.ts'
import { vocabularyOf } from '../listen/event-vocabulary.ts'
import { ask, findRemote, type RemoteFlags } from '../remote.ts'
import { withLockedStore } from '../store.ts'
import { type Column, printList, showText, writeTime } from '../table.ts'
import { contentRemoved, noAccess } from './deliveries.ts'
import { parseId, unknownDelivery } from './delivery-texts.ts'

type Found = NonNullable<Awaited<ReturnType<typeof findDeliveryForOperators>>>
type Delivery = Found['delivery']

/** The most of a response that is shown, so that an attempt stays on one line. */
const keptCharacters = 200

const columns: readonly Column<Found['attempts'][number]>[] = [
  { heading: 'TRY', cell: ({ number }) => String(number), isWhole: true },
  { heading: 'TIME', cell: ({ time }) => writeTime(time), isWhole: true },
  { heading: 'TOOK', cell: ({ duration }) => `${duration} ms`, isWhole: true },
  { heading: 'STATUS', cell: ({ status }) => (status === null ? '-' : String(status)), isWhole: true },
  { heading: 'PROBLEM', cell: ({ problem }) => problem ?? '' },
  { heading: 'ANSWER', cell: ({ answer }) => showText(answer ?? '').slice(0, keptCharacters) },
]

/** Shows a delivery, every attempt, and the exact request that was sent. */
export async function showDelivery(
  text: string,
  flags: RemoteFlags & { data?: string; json?: boolean },
): Promise<void> {
  const id = parseId(text)
  const remote = await findRemote(flags)
  if (remote) {
    const found = await ask(remote, ({ operator }) => operator.deliveries.retrieve(String(id)))
    process.stdout.write(`${JSON.stringify(found, null, flags.json ? 0 : 2)}\n`)
    return
  }
  await withLockedStore({ DATA_DIR: flags.data }, async (database, config) => {
    const found = await findDeliveryForOperators(database.read, id)
    if (!found) throw unknownDelivery(id)
    const request = found.delivery.value === emptiedValue ? undefined : await composeRequest(database, config, found)
    if (flags.json) {
      process.stdout.write(`${JSON.stringify(toJson(found, request))}\n`)
      return
    }
    process.stdout.write(`${describeFacts(found.delivery)}\n`)
    printList(found.attempts, columns, {})
    const shown = request
      ? writeRequest(found.delivery, request, config)
      : `What it sent is not kept: ${contentRemoved}.\n`
    process.stdout.write(`\n${shown}`)
  })
}

function describeFacts(delivery: Delivery): string {
  const facts: readonly (readonly [string, string])[] = [
    ['Delivery', String(delivery.id)],
    ['Account', delivery.account_id],
    ['App', delivery.app_id],
    ['Callback', delivery.callback_url],
    ['Field', delivery.field],
    ['Conversation', showText(delivery.conversation)],
    ['Raised', writeTime(delivery.created_time)],
    ['State', describeState(delivery)],
  ]
  return facts.map(([name, value]) => `${name.padEnd(12)} ${value}\n`).join('')
}

function describeState({ state, due_time, value }: Pick<Delivery, 'state' | 'due_time' | 'value'>): string {
  if (state === 'waiting') return `waiting, next attempt ${writeTime(due_time)}`
  if (state === 'withdrawn' && value === emptiedValue) return `withdrawn: ${contentRemoved}`
  return state === 'withdrawn'
    ? `withdrawn: ${noAccess}, the app was unlinked from it, or an operator gave up what waited after a restore`
    : state
}

interface ShownRequest {
  /** The attempt that sent it; undefined: the next one will. */
  readonly attempt: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly isSigned: boolean
}

/** The request of the last attempt, or of the next one when there was none since the delivery was raised or replayed. */
async function composeRequest(
  database: Database,
  config: Config,
  { delivery, attempts }: Found,
): Promise<ShownRequest> {
  const last = delivery.attempts > delivery.earlier_attempts ? attempts.at(-1) : undefined
  const time = last?.time ?? systemClock.now()
  const body = await buildBody(vocabularyOf(delivery.value, config), { deliveries: [delivery] })
  const lastPlainDelivery = await readLastPlainDelivery(database.read)
  const secrets = await findSecretsIfOpen(database, delivery.app_id, time)
  return {
    attempt: last?.number,
    headers: {
      'user-agent': `switchboard/${packageVersion()}`,
      ...(secrets
        ? buildHeaders({ deliveries: [delivery], secrets }, body, time, {
            toRealTime: (signed) => signed,
            lastPlainDelivery,
          })
        : { 'content-type': 'application/json' }),
    },
    body: body.toString('latin1'),
    isSigned: secrets !== undefined,
  }
}

async function findSecretsIfOpen({ read }: Database, app_id: string, time: number): Promise<Secrets | undefined> {
  try {
    return await findSecrets(read, app_id, time)
  } catch (error) {
    if (error instanceof SecretsLocked || error instanceof SecretUnreadable) return undefined
    throw error
  }
}

function writeRequest(
  { callback_url }: Delivery,
  { attempt, headers, body, isSigned }: ShownRequest,
  config: Config,
): string {
  const notes = [
    attempt === undefined ? 'The next attempt sends:' : `Attempt ${attempt} sent:`,
    ...(isSigned ? [] : ["(Without its signatures: no key that opens the app's secret is at hand.)"]),
    ...(config.webhookBatch > 1 ? ['(WEBHOOK_BATCH may have put other changes into the same post.)'] : []),
  ]
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `${[...notes, '', `POST ${callback_url}`, ...lines, '', body].join('\n')}\n`
}

function toJson({ delivery, attempts }: Found, request: ShownRequest | undefined) {
  const { id, account_id, app_id, callback_url, field, conversation, state, created_time, due_time } = delivery
  return {
    id,
    account_id,
    app_id,
    callback_url,
    field,
    conversation,
    state,
    created_time: writeTime(created_time),
    next_time: state === 'waiting' ? writeTime(due_time) : null,
    attempts: attempts.map(({ number, time, duration, status, problem, answer }) => ({
      number,
      time: writeTime(time),
      duration,
      status,
      problem,
      answer,
    })),
    request: request ? describeRequest(callback_url, request) : null,
  }
}

function describeRequest(url: string, { attempt, headers, body, isSigned }: ShownRequest) {
  return { attempt: attempt ?? null, method: 'POST', url, headers, body, is_signed: isSigned }
}
