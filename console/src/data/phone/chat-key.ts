/** Which chat: with a number, or a group of one. */
export interface ChatKey {
  readonly phone_number_id: string
  readonly group_id?: string | undefined
}

export function keyOf({ phone_number_id, group_id }: ChatKey): string {
  return group_id === undefined ? phone_number_id : `group ${group_id}`
}

/** The key alone of something that has one, such as a chat or a message. */
export function toKey({ phone_number_id, group_id }: ChatKey): ChatKey {
  return group_id === undefined ? { phone_number_id } : { phone_number_id, group_id }
}

/** How the gateway is asked for a chat: by one of the ids. */
export function whereOf({ phone_number_id, group_id }: ChatKey) {
  return group_id === undefined ? { phone_number_id } : { group_id }
}
