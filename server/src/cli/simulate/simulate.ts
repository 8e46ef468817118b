import type {
  Call,
  GatewayCallPermissionsUpdateParams,
  GatewayMessagesWriteParams,
  GatewayMessagesWriteResponse,
  Switchboard,
} from '@switchboard/client'
import { systemRandom } from '../../base/keys/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { MessageKind } from '../../resources/webhooks/inbound/message-kinds.ts'
import { CommandFailed } from '../fail.ts'
import { ask, openGateway, type Remote, type RemoteFlags, RemoteRefused } from '../remote.ts'
import { hasSound, type SoundFlags, simulateCallWithSound } from '../voice/simulated-call.ts'
import {
  buildMessage,
  isFileKind,
  isSimulatedKind,
  kindsWithPayload,
  type NumberOfGateway,
  type SentFile,
  simulatedKinds,
} from './simulated-messages.ts'
import { writeSession } from './simulated-sessions.ts'

export interface MessageFlags extends RemoteFlags {
  readonly to: string
  readonly from: string
  readonly type?: string
  readonly text?: string
  readonly name?: string
  readonly file?: string
  readonly replyTo?: string
  readonly payload?: string
}

/** Simulates a message of a user to a phone number. */
export async function simulateMessage(flags: MessageFlags): Promise<void> {
  const { to, from, text, payload, name } = flags
  const wanted = readKind(flags.type)
  // The inbound events accept any sender, but the gateway writes every user like this.
  if (!/^\d{1,20}$/.test(from)) {
    throw new CommandFailed(`--from ${from} is not a user: give a phone number, digits alone, such as 16505551234`)
  }
  if (payload !== undefined && (wanted === undefined || !kindsWithPayload.includes(wanted))) {
    throw new CommandFailed(`--payload is what a button holds: give it with --type ${kindsWithPayload.join(' or ')}`)
  }
  const media = await openMedia(flags.file, wanted)
  const type = media?.type ?? wanted ?? 'text'
  const gateway = openGateway(flags)
  const number = await findNumber(gateway, to)
  const message = buildMessage({
    type,
    from,
    text,
    payload,
    file: media ? await media.upload(gateway, number.id) : noFile,
    answered: { from: number.display_phone_number.replaceAll(/\D/g, ''), id: flags.replyTo ?? drawMessageId() },
    isReply: flags.replyTo !== undefined,
    time: systemClock.now(),
  })
  const params = { phone_number_id: number.id, ...(name !== undefined && { name }), ...message }
  // The member that goes with the type is there: `buildMessage` made it.
  await perform(
    gateway,
    ({ message_id }: GatewayMessagesWriteResponse) =>
      `${type} from ${from} to ${number.display_phone_number} (${number.id}), message ${message_id}`,
    (door) => door.messages.write(params as GatewayMessagesWriteParams),
  )
}

/** Prints what is sent and what comes back. */
async function perform<T>(
  remote: Remote,
  sent: string | ((data: T) => string),
  call: (door: Switchboard['gateway']) => Call<T>,
): Promise<void> {
  const { data, response } = await ask(remote, ({ gateway }) => call(gateway).withResponse())
  process.stdout.write(
    `→ ${typeof sent === 'string' ? sent : sent(data)}\n← ${response.status} ${JSON.stringify(data)}\n`,
  )
}

const noFile: SentFile = { id: '', mime_type: '', sha256: '', filename: '', animated: false }

function readKind(type: string | undefined): MessageKind | undefined {
  if (type === undefined || isSimulatedKind(type)) return type
  throw new CommandFailed(`--type ${type} is not one of ${Object.keys(simulatedKinds).join(', ')}`)
}

function drawMessageId(): string {
  return `wamid.${systemRandom.bytes(18).toString('base64url')}`
}

interface Media {
  readonly type: MessageKind
  upload(gateway: Remote, phone_number_id: string): Promise<SentFile>
}

/** The file of a message with one; the file type detection is loaded only for these. */
async function openMedia(path: string | undefined, wanted: MessageKind | undefined): Promise<Media | undefined> {
  const load = () => import('./simulated-media.ts')
  if (path === undefined) {
    if (!isFileKind(wanted)) return undefined
    const { makeSampleFile, uploadFile } = await load()
    return { type: wanted, upload: (gateway, number) => uploadFile(gateway, number, makeSampleFile(wanted)) }
  }
  const { readOutgoingFile, uploadFile } = await load()
  const { type, file } = await readOutgoingFile(path, wanted)
  return { type, upload: (gateway, number) => uploadFile(gateway, number, file) }
}

async function findNumber(remote: Remote, to: string): Promise<NumberOfGateway> {
  try {
    return await ask(remote, ({ gateway }) => gateway.phoneNumbers.retrieve(to))
  } catch (error) {
    if (!(error instanceof RemoteRefused) || error.status !== 404) throw error
    throw new CommandFailed(
      `--to ${to} is no number that this token sees at ${remote.url}: give a Phone-Number-ID, such as 4000000000000001 in the demo world, not the phone number itself`,
    )
  }
}

export interface CallFlags extends SoundFlags {
  readonly ring?: string
  readonly reject?: string
  readonly hangUp?: string
}

/** Simulates a call of a user to a phone number, or a step in a call. */
export async function simulateCall(flags: CallFlags): Promise<void> {
  const { to, from, name } = flags
  const acts = (
    [
      ['ring', flags.ring],
      ['accept', flags.answer],
      ['reject', flags.reject],
      ['terminate', flags.hangUp],
    ] as const
  ).flatMap(([action, call_id]) => (call_id === undefined ? [] : [{ action, call_id }]))
  const opening = to !== undefined && from !== undefined ? { phone_number_id: to, from, name } : undefined
  const [act] = acts
  if (acts.length + Number(opening !== undefined) !== 1 || (act && (to !== undefined || from !== undefined))) {
    throw new CommandFailed(
      'give either --to and --from for a new call, or one of --ring, --answer, --reject, --hang-up',
    )
  }
  if (hasSound(flags)) {
    if (act && act.action !== 'accept') throw new CommandFailed('sound is for --to and --from, or for --answer')
    return simulateCallWithSound(flags)
  }
  const gateway = openGateway(flags)
  const drawn = systemRandom.bytes(32)
  if (act) {
    const { action, call_id } = act
    const session = writeSession('answer', drawn)
    await perform(gateway, `${action} call ${call_id}`, ({ calls }) =>
      action === 'accept' ? calls.accept(call_id, { session }) : calls[action](call_id),
    )
  }
  if (opening) {
    const session = writeSession('offer', drawn)
    const sent = `call from ${from} to ${to}, with an offer of ${session.sdp.length} characters`
    await perform(gateway, sent, (door) => door.calls.start({ ...opening, session }))
  }
}

export interface PermissionFlags extends RemoteFlags {
  readonly number: string
  readonly user: string
  readonly status: string
}

/** Simulates a user's decision whether a phone number may call. */
export async function simulatePermission(flags: PermissionFlags): Promise<void> {
  const { number: phone_number_id, user: user_wa_id, status } = flags
  // The server knows which ones there are, and says so.
  const params = { phone_number_id, user_wa_id, status } as GatewayCallPermissionsUpdateParams
  const sent = `permission of ${user_wa_id} for ${phone_number_id}: ${status}`
  await perform(openGateway(flags), sent, (door) => door.callPermissions.update(params))
}

export interface JoinFlags extends RemoteFlags {
  readonly link: string
  readonly user: string
  readonly name?: string
}

/** Simulates a user who follows the invite link of a group. */
export async function simulateJoin(flags: JoinFlags): Promise<void> {
  const { link: invite_link, user: user_wa_id, name } = flags
  const sent = `${user_wa_id} follows ${invite_link}`
  await perform(openGateway(flags), sent, (door) => door.groups.join({ invite_link, user_wa_id, name }))
}

export interface StatusFlags extends RemoteFlags {
  readonly user?: string
  readonly code?: string
}

/** What a phone reports of a message, and the methods for it. */
const reports = { deliver: 'deliver', read: 'markAsRead', play: 'play', fail: 'fail', delete: 'delete' } as const

function isReport(action: string): action is keyof typeof reports {
  return action in reports
}

/** Lets the phone of a user report what became of a message. */
export async function simulateStatus(message_id: string, action: string, flags: StatusFlags): Promise<void> {
  const { user: user_wa_id, code } = flags
  if (code !== undefined && !/^\d{1,6}$/.test(code)) throw new CommandFailed(`--code ${code} is not a number`)
  if (!isReport(action)) throw new CommandFailed(`${action} is not one of ${Object.keys(reports).join(', ')}`)
  const params = { user_wa_id, ...(code !== undefined && { code: Number(code) }) }
  await perform(openGateway(flags), `${action} message ${message_id}`, ({ messages }) =>
    action === 'delete' ? messages.delete(message_id) : messages[reports[action]](message_id, params),
  )
}

export interface PressFlags extends RemoteFlags {
  readonly user?: string
  readonly data?: string
}

/** Lets a user press something in a message. */
export async function simulatePress(message_id: string, choice: string | undefined, flags: PressFlags): Promise<void> {
  const { user: user_wa_id, data } = flags
  const params = { choice, user_wa_id, ...(data !== undefined && { data: readData(data) }) }
  await perform(openGateway(flags), `press message ${message_id}`, ({ messages }) => messages.press(message_id, params))
}

function readData(text: string): Record<string, unknown> {
  try {
    // What is no object is refused by the server, which says what it needs.
    return JSON.parse(text)
  } catch {
    throw new CommandFailed(`--data is not JSON: give an object such as '{"latitude": 40.7, "longitude": -74}'`)
  }
}
