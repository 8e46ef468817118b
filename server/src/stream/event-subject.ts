import { isText } from '../base/text/json-shapes.ts'
import { emptiedValue } from '../db/emptied-value.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * What an event is about, in a few words, such as `status delivered to +16505551234`: its kind, its user, never what a user wrote.
 * Null for what has another form: inbound events may hold anything.
 */
export function describeSubject(field: string, value: unknown): string | null {
  const members = isMembers(value) ? value : {}
  const changes = listChanges(field, members)
  const [first] = changes
  if (!first) return null
  return changes.length === 1 ? first : `${first} and ${changes.length - 1} more`
}

/** The same of a value as it is stored; null where it was removed or is not read. */
export function describeStoredSubject(field: string, value: string | null): string | null {
  if (value === null || value === emptiedValue) return null
  return describeSubject(field, JSON.parse(value))
}

function listChanges(field: string, value: Members): string[] {
  if (field === 'messages') {
    return [...listOf(value, 'messages').map(describeMessage), ...listOf(value, 'statuses').map(describeStatus)]
  }
  if (field === 'calls') {
    return [...listOf(value, 'calls').map(describeCall), ...listOf(value, 'statuses').map(describeCallStatus)]
  }
  if (field === 'user_preferences') return listOf(value, 'user_preferences').map(describePreference)
  if (field.startsWith('group_')) return listOf(value, 'groups').map(describeGroup)
  if (isText(value['message_template_name'])) return [describeTemplate(value)]
  const event = wordOf(value['event'] ?? value['decision'])
  const connected = connectionWords.get(event ?? '')
  if (field === 'account_update' && connected !== undefined) return [describeConnection(value, connected)]
  return event === undefined ? [] : [`${spaced(field)}: ${event}`]
}

function describeMessage({ type, from, group_id, interactive }: Members): string {
  const reply = isMembers(interactive) ? wordOf(interactive['type']) : undefined
  const kind = spaced(reply ?? wordOf(type) ?? 'message')
  return `${kind} from ${userOf(from)}${isText(group_id) ? ' in a group' : ''}`
}

function describeStatus({ status, recipient_id, recipient_type, recipient_participant_id, errors }: Members): string {
  const [error] = Array.isArray(errors) ? errors.filter(isMembers) : []
  const code = error && typeof error['code'] === 'number' ? ` (${error['code']})` : ''
  const isGroup = recipient_type === 'group'
  const to = isGroup && !isText(recipient_participant_id) ? 'a group' : userOf(recipient_participant_id ?? recipient_id)
  return `status ${wordOf(status) ?? 'unknown'}${code} to ${to}`
}

function describeCall({ event, status, direction, from, to }: Members): string {
  const end = wordOf(status)?.toLowerCase()
  const side = direction === 'BUSINESS_INITIATED' ? `to ${userOf(to)}` : `from ${userOf(from)}`
  return `call ${wordOf(event) ?? 'event'}${end === undefined ? '' : ` (${end})`} ${side}`
}

function describeCallStatus({ status, recipient_id }: Members): string {
  return `call ${wordOf(status)?.toLowerCase() ?? 'status'} by ${userOf(recipient_id)}`
}

function describePreference({ wa_id, category, value }: Members): string {
  return `${spaced(wordOf(category) ?? 'preference')}: ${wordOf(value) ?? 'changed'} by ${userOf(wa_id)}`
}

function describeGroup({ type, wa_id, errors }: Members): string {
  const what = spaced(wordOf(type) ?? 'group')
  const failed = Array.isArray(errors) && errors.length > 0 ? ' failed' : ''
  return `${what}${failed}${isText(wa_id) ? ` by ${userOf(wa_id)}` : ''}`
}

function describeTemplate(value: Members): string {
  const name = wordOf(value['message_template_name']) ?? 'of another form'
  const language = wordOf(value['message_template_language'])
  const changed = wordOf(value['event']) ?? changeOf(value, 'quality_score') ?? changeOf(value, 'category') ?? 'changed'
  return `template ${name}${language === undefined ? '' : ` (${language})`} ${changed.toLowerCase()}`
}

/** What becomes of an account when it is connected to an app by a sign-up, and when that ends. */
const connectionWords: ReadonlyMap<string, string> = new Map([
  ['PARTNER_ADDED', 'connected to the app'],
  ['PARTNER_REMOVED', 'disconnected from the app'],
])

function describeConnection({ waba_info }: Members, connected: string): string {
  const id = isMembers(waba_info) ? wordOf(waba_info['waba_id']) : undefined
  return id === undefined ? `account ${connected}` : `account ${id} ${connected}`
}

function changeOf(value: Members, member: string): string | undefined {
  const [before, after] = [wordOf(value[`previous_${member}`]), wordOf(value[`new_${member}`])]
  return before !== undefined && after !== undefined ? `${spaced(member)} ${before} to ${after}` : undefined
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null
}

function listOf(value: Members, member: string): Members[] {
  const list = value[member]
  return Array.isArray(list) ? list.filter(isMembers) : []
}

/** A name of the wire. Text that a person wrote has spaces or other letters, and is not repeated. */
function wordOf(value: unknown): string | undefined {
  return isText(value) && /^[\w.-]{1,80}$/.test(value) ? value : undefined
}

function spaced(name: string): string {
  return name.replaceAll('_', ' ')
}

function userOf(value: unknown): string {
  return isText(value) && /^\d{1,20}$/.test(value) ? `+${value}` : 'a user'
}
