import { signal } from '@preact/signals'
import { gatewayUsersList, gatewayUsersRetrieve } from '@switchboard/client/methods'
import { client } from '../http.ts'

const names = signal<ReadonlyMap<string, string>>(new Map())
const asked = new Set<string>()

/** The name of a user, as far as it is known; otherwise it is read, and whoever shows it is drawn again. */
export function nameUser(wa_id: string): string | undefined {
  const known = names.value.get(wa_id)
  if (known !== undefined || asked.has(wa_id)) return known
  asked.add(wa_id)
  void readName(wa_id)
  return undefined
}

let isListRead: Promise<void> | undefined

/** Reads many names at once, for a list of users; those of others are read one by one, as they are shown. */
export function readUserNames(): Promise<void> {
  isListRead ??= readFirstNames().catch(() => {
    isListRead = undefined
  })
  return isListRead
}

async function readFirstNames(): Promise<void> {
  const { data } = await gatewayUsersList(client, { limit: 500 })
  const found = new Map(names.peek())
  for (const { wa_id, name } of data) {
    asked.add(wa_id)
    if (name) found.set(wa_id, name)
  }
  names.value = found
}

async function readName(wa_id: string): Promise<void> {
  try {
    const { name } = await gatewayUsersRetrieve(client, wa_id)
    if (name) names.value = new Map(names.peek()).set(wa_id, name)
  } catch {
    asked.delete(wa_id)
  }
}
