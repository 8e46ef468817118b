export interface Subscription {
  readonly callback_url: string
  readonly fields: readonly string[]
  /** The accounts that the app is linked to, by their ids. */
  readonly accounts: readonly string[]
}

export interface SubscriptionChange {
  /** The callback that the app has now, if the new one differs. */
  readonly urlBefore: string | undefined
  readonly addedFields: readonly string[]
  readonly removedFields: readonly string[]
  readonly linked: readonly string[]
  readonly unlinked: readonly string[]
}

/** An app without a subscription may have links all the same. */
export type CurrentSubscription = Subscription | Pick<Subscription, 'accounts'>

/** What a new subscription changes. */
export function compareSubscriptions(before: CurrentSubscription, after: Subscription): SubscriptionChange {
  const without = (list: readonly string[], other: readonly string[]) => list.filter((one) => !other.includes(one))
  const { callback_url, fields } = 'fields' in before ? before : { callback_url: after.callback_url, fields: [] }
  return {
    urlBefore: callback_url === after.callback_url ? undefined : callback_url,
    addedFields: without(after.fields, fields),
    removedFields: without(fields, after.fields),
    linked: without(after.accounts, before.accounts),
    unlinked: without(before.accounts, after.accounts),
  }
}

/** Whether the app will get less than it gets now. */
export function losesEvents({ removedFields, unlinked }: SubscriptionChange): boolean {
  return removedFields.length > 0 || unlinked.length > 0
}

/** The change in sentences; none when nothing changes. */
export function describeChange(change: SubscriptionChange, nameOf: (account: string) => string): string[] {
  const { urlBefore, addedFields, removedFields, linked, unlinked } = change
  const name = (accounts: readonly string[]) => accounts.map(nameOf).join(', ')
  return [
    ...(urlBefore === undefined ? [] : [`Events no longer go to ${urlBefore}.`]),
    ...(addedFields.length === 0 ? [] : [`Adds ${addedFields.join(', ')}.`]),
    ...(removedFields.length === 0
      ? []
      : [`Removes ${removedFields.join(', ')}: the app no longer gets these events.`]),
    ...(linked.length === 0 ? [] : [`Links the app to ${name(linked)}.`]),
    ...(unlinked.length === 0 ? [] : [`Unlinks the app from ${name(unlinked)}: it no longer gets their events.`]),
  ]
}

/** What a change of the callback leaves at the one before. */
export function describeLeftBehind(waiting: number, url: string): string {
  const webhooks = waiting === 1 ? '1 webhook still waits' : `${waiting.toLocaleString()} webhooks still wait`
  return `${webhooks} at the former callback ${url}.`
}
