import { writeLocalUrl } from './local-url.ts'
import { askForObject, findRemote, type Remote } from './remote.ts'
import { configFrom } from './store.ts'

interface State {
  readonly version: string
  readonly vocabulary: string
  readonly versions: readonly string[]
  readonly store: string
  readonly sandbox: boolean
  readonly counts: Readonly<Record<string, number>>
  readonly lanes: { readonly waiting: number; readonly down: number; readonly oldest_age: number | null }
  readonly processes: readonly { readonly id: string; readonly role: string; readonly version: string }[]
}

/** These commands need a server: without a name for it, it is on this machine. */
function findServer(flags: { readonly url?: string }): Remote {
  const url = flags.url ?? writeLocalUrl(configFrom({}))
  return findRemote(flags) ?? (findRemote({ url }) as Remote)
}

/** How a server is. */
export async function showStatus(flags: { readonly url?: string; readonly json?: boolean }): Promise<void> {
  const remote = findServer(flags)
  const state = await askForObject<State>(remote, 'state')
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(state)}\n`)
    return
  }
  const { lanes, counts, processes } = state
  const facts = [
    ['Server', remote.url],
    ['Version', `${state.version}, API ${state.versions.join(', ')}, ${state.vocabulary}`],
    ['Store', state.store],
    ['Sandbox', state.sandbox ? 'yes' : 'no'],
    ['Processes', processes.map(({ role, version }) => `${role} ${version}`).join(', ')],
    [
      'Nodes',
      Object.entries(counts)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', '),
    ],
    ['Deliveries', `${lanes.waiting} waiting, ${lanes.down} subscribers down`],
    ['Oldest', lanes.oldest_age === null ? '-' : `${lanes.oldest_age} s`],
  ] as const
  for (const [name, value] of facts) process.stdout.write(`${name.padEnd(11)} ${value}\n`)
}

export interface WaitFlags {
  readonly url?: string
  readonly account?: string
  readonly number?: string
  readonly since?: string
  readonly timeout?: string
}

/** Waits until something has happened, and prints it; ends with 1 when nothing came. */
export async function waitForHappening(type: string, flags: WaitFlags): Promise<void> {
  const { account: account_id, number: phone_number_id, since, timeout } = flags
  const query = { type, account_id, phone_number_id, since, timeout }
  process.stdout.write(`${JSON.stringify(await askForObject(findServer(flags), 'wait', { query }))}\n`)
}
