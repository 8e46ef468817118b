/** The events that have to come to a subscriber, and those that may. */
export class ExpectedEvents {
  readonly expected = new Set<string>()
  readonly possible = new Set<string>()

  /** Before a write is sent: from now on its events may come. */
  mayCome(keys: readonly string[] = []): void {
    for (const key of keys) this.possible.add(key)
  }

  /** It has happened. */
  mustCome(keys: readonly string[] = []): void {
    for (const key of keys) {
      this.possible.add(key)
      this.expected.add(key)
    }
  }
}

/** What an event is known by: something that a writer can say before it knows any id that the server draws. */
export const eventKeys = {
  message: (id: string) => `message ${id}`,
  call: (user: string, what: string) => `call of ${user} ${what}`,
  groupCreated: (subject: string) => `group ${subject} created`,
  groupDeleted: (id: string) => `group ${id} deleted`,
  /** Users join once each, and are removed once each. */
  member: (user: string, what: string) => `group member ${user} ${what}`,
  /** An account is connected once at the most. */
  connection: (account_id: string, what: string) => `connection of ${account_id} ${what}`,
  /** What has become of it, or its score. */
  template: (name: string, what: string) => `template ${name} ${what}`,
}

/** The key of the event that a callback was posted. */
export function identifyEvent(body: string): string {
  const { value } = JSON.parse(body).entry[0].changes[0]
  const [message] = value.messages ?? []
  if (message) return eventKeys.message(message.id)
  const [status] = value.statuses ?? []
  if (status) return eventKeys.call(status.recipient_id, status.status)
  const [call] = value.calls ?? []
  if (call) return eventKeys.call(call.direction === 'USER_INITIATED' ? call.from : call.to, call.event)
  const { message_template_name: template, event, new_quality_score, waba_info } = value
  if (waba_info) return eventKeys.connection(waba_info.waba_id, event)
  if (template !== undefined) return eventKeys.template(template, event ?? new_quality_score)
  const [group] = value.groups
  switch (group.type) {
    case 'group_create':
      return eventKeys.groupCreated(group.subject)
    case 'group_delete':
      return eventKeys.groupDeleted(group.group_id)
    case 'group_participants_add':
      return eventKeys.member(group.added_participants[0].wa_id, 'added')
    case 'group_participants_remove':
      return eventKeys.member(group.removed_participants[0].wa_id, 'removed')
    default:
      return eventKeys.member(group.wa_id, group.type)
  }
}
