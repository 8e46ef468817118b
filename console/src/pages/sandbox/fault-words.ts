export interface FaultRule {
  readonly match?: {
    readonly door?: string
    readonly operation?: string
    readonly phone_number_id?: string
    readonly app_id?: string
    readonly callback?: string
  }
  readonly rate?: number
  readonly times?: number
  readonly effect: {
    readonly status?: number
    readonly code?: number
    readonly delay?: string
    readonly drop?: boolean
    readonly duplicate?: boolean
    readonly reorder?: number
    readonly hold?: boolean
  }
}

const doors: Readonly<Record<string, string>> = {
  business: 'of the business API',
  gateway: "of the users' phones",
  operator: 'of operators',
  receiver: 'with inbound events',
  handshake: 'of the handshake',
  open: 'to public pages',
  link: 'for media files',
  edge_link: 'for files of messages',
}

/** Whether a rule is about webhooks, and not about requests. */
function isForWebhooks({ match, effect }: FaultRule): boolean {
  const { duplicate, reorder, hold } = effect
  return match?.callback !== undefined || duplicate === true || reorder !== undefined || hold === true
}

/** A fault as a sentence. */
export function describeFault(rule: FaultRule, nameOf: (id: string) => string): string {
  const { effect, times } = rule
  const what = describeMatch(rule, nameOf)
  const most = times === undefined ? '' : times === 1 ? ', once' : `, ${times} times at most`
  return `${describeEffect(effect, what, isForWebhooks(rule))}${most}.`
}

function describeMatch(rule: FaultRule, nameOf: (id: string) => string): string {
  const { match = {}, rate = 1 } = rule
  const { door, operation, phone_number_id, app_id, callback } = match
  const share = rate === 1 ? 'every' : `${Number((rate * 100).toFixed(2))} % of`
  const noun = isForWebhooks(rule) ? 'webhook' : 'request'
  return [
    `${share} ${rate === 1 ? noun : `${noun}s`}`,
    ...(operation === undefined ? [] : [operation]),
    ...(door === undefined ? [] : [doors[door] ?? `of the door ${door}`]),
    ...(phone_number_id === undefined ? [] : [`about the number ${nameOf(phone_number_id)}`]),
    ...(app_id === undefined ? [] : [`of the app ${nameOf(app_id)}`]),
    ...(callback === undefined ? [] : [`to ${callback}`]),
  ].join(' ')
}

function describeEffect(effect: FaultRule['effect'], what: string, isWebhook: boolean): string {
  const { status, code, delay, drop, duplicate, reorder, hold } = effect
  if (delay !== undefined) return `Delays ${what} by ${delay}`
  if (drop === true) return `Closes the connection of ${what} without a response`
  if (duplicate === true) return `Sends ${what} twice`
  if (hold === true) return `Holds ${what} until the rules change`
  if (reorder !== undefined) return `Sends ${what} that has a status after ${reorder} others`
  const number = code === undefined ? '' : ` and code ${code}`
  return isWebhook
    ? `Answers ${what} with ${status}, as if the subscriber did`
    : `Refuses ${what} with ${status}${number}`
}

export const presets: readonly { readonly name: string; readonly rule: FaultRule }[] = [
  {
    name: 'Refuse the next message (429)',
    rule: { match: { operation: 'messages.send' }, times: 1, effect: { status: 429, code: 130429 } },
  },
  { name: 'Send every webhook twice', rule: { effect: { duplicate: true } } },
  { name: 'Hold all webhooks', rule: { effect: { hold: true } } },
  {
    name: 'Delay every response of the business API by 2 s',
    rule: { match: { door: 'business' }, effect: { delay: '2s' } },
  },
  {
    name: 'Close a tenth of the connections of the business API',
    rule: { match: { door: 'business' }, rate: 0.1, effect: { drop: true } },
  },
]
