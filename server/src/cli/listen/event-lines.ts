/** The summary of one webhook event, short enough for one line. */
export interface EventLine {
  readonly field: string
  readonly account: string
  readonly number: string
  readonly summary: string
}

const maxText = 80

type Fields = Readonly<Record<string, unknown>>

/** The events of any webhook body: an unknown kind is described by the names of its members. */
export function describeEvents(body: unknown): EventLine[] {
  return listOf(fieldsOf(body)['entry']).flatMap((entry) =>
    listOf(entry['changes']).map((change) => {
      const value = fieldsOf(change['value'])
      return {
        field: write(change['field']),
        account: write(entry['id']),
        number: write(fieldsOf(value['metadata'])['phone_number_id']),
        summary: describeValue(value),
      }
    }),
  )
}

function describeValue(value: Fields): string {
  const parts = [
    ...listOf(value['messages']).map((message) => describeMessage(message, value)),
    ...listOf(value['calls']).map(describeCall),
    ...listOf(value['statuses']).map(describeStatus),
    ...listOf(value['groups']).map(describeGroup),
    ...(typeof value['event'] === 'string' ? describeAccountEvent(value['event'], fieldsOf(value['waba_info'])) : []),
  ]
  return parts.length > 0 ? parts.join('; ') : `with ${Object.keys(value).map(write).join(', ') || 'nothing'}`
}

function describeMessage(message: Fields, { contacts }: Fields): string {
  const type = write(message['type'])
  const sender = listOf(contacts)[0]
  const name = sender && fieldsOf(sender['profile'])['name']
  const content = findText(fieldsOf(message[type]))
  return [
    `${type} from ${write(message['from'])}`,
    ...(typeof name === 'string' ? [`(${write(name)})`] : []),
    ...(content === undefined ? [] : [`“${write(content)}”`]),
    write(message['id']),
  ].join(' ')
}

/** The text of a message, or a substitute for it. */
function findText(content: Fields): string | undefined {
  const reply = fieldsOf(content['button_reply'] ?? content['list_reply'])
  const candidates = [content['body'], content['caption'], content['emoji'], content['text'], content['filename']]
  return [...candidates, reply['title'], content['name']].find((one) => typeof one === 'string')
}

function describeCall(call: Fields): string {
  const status = call['status'] === undefined ? '' : ` ${write(call['status'])}`
  return `${write(call['event'])}${status} from ${write(call['from'])} to ${write(call['to'])}, call ${write(call['id'])}`
}

function describeStatus(status: Fields): string {
  const what = status['type'] === 'call' ? 'call' : 'message'
  return `${what} ${write(status['id'])} ${write(status['status'])} for ${write(status['recipient_id'])}`
}

function describeGroup(group: Fields): string {
  const users = ['added_participants', 'removed_participants'].flatMap((member) => listOf(group[member]))
  const who = [group['wa_id'], ...users.map(({ wa_id }) => wa_id)].filter((one) => one !== undefined)
  return [
    write(group['type']),
    ...(group['group_id'] === undefined ? [] : [write(group['group_id'])]),
    ...(group['subject'] === undefined ? [] : [`“${write(group['subject'])}”`]),
    ...who.map(write),
    ...(group['errors'] === undefined ? [] : ['failed']),
  ].join(' ')
}

/** A sign-up, or its end; of other events the members are named. */
function describeAccountEvent(event: string, { waba_id, owner_business_id }: Fields): string[] {
  if (waba_id === undefined) return []
  return [`${write(event)} account ${write(waba_id)} of business ${write(owner_business_id)}`]
}

/** A value for a terminal: shortened, and without control characters. */
function write(value: unknown): string {
  if (value === undefined) return '-'
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    ' ',
  )
  const characters = [...text]
  return characters.length > maxText ? `${characters.slice(0, maxText - 1).join('')}…` : text
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}
