import type { OperatorFeedWaitParams } from '@switchboard/client'
import { commandName } from '../../base/command-name.ts'
import { describeVersions } from '../../graph/versions.ts'
import { ask, type RemoteFlags, requireRemote } from '../remote.ts'

/** How a server is. */
export async function showStatus(flags: RemoteFlags & { readonly json?: boolean }): Promise<void> {
  const remote = requireRemote(flags)
  const state = await ask(remote, ({ operator }) => operator.state.retrieve())
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(state)}\n`)
    return
  }
  const { lanes, counts, processes } = state
  const facts = [
    ['Server', remote.url],
    ['Version', `${state.version}, API ${describeVersions(state.versions)}, ${state.vocabulary}`],
    ['Store', state.store],
    ['Sandbox', state.sandbox ? 'yes' : 'no'],
    ['Processes', processes.map(({ role, version }) => `${role} ${version}`).join(', ')],
    ['Settings', describeSettings(processes)],
    [
      'Nodes',
      Object.entries(counts)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', '),
    ],
    ['Clock', describeClock(state.clock)],
    ['Sending', describeSending(state.sending)],
    ['Deliveries', `${lanes.waiting} waiting, ${lanes.down} subscribers down`],
    ['Oldest', lanes.oldest_age === null ? '-' : `${lanes.oldest_age} s`],
  ] as const
  for (const [name, value] of facts) process.stdout.write(`${name.padEnd(11)} ${value}\n`)
}

function describeSettings(
  processes: readonly { readonly id: string; readonly differing_settings: readonly string[] | null }[],
): string {
  const differing = processes.filter(({ differing_settings }) => (differing_settings ?? []).length > 0)
  if (differing.length === 0) return 'the same in all processes'
  return differing
    .map(({ id, differing_settings }) => `${differing_settings?.join(', ')} differ in process ${id}`)
    .join('; ')
}

function describeClock({ held, offset }: { readonly held: string | null; readonly offset: number }): string {
  if (held === 'jumped') return `jumped forward: nothing is deleted or given up until ${commandName()} clock accept`
  return held === null ? 'right' : `${offset} s ahead of the database's: the server does no background work`
}

function describeSending({ held_since }: { readonly held_since: string | null }): string {
  return held_since === null ? 'yes' : `held since ${held_since}, until ${commandName()} restored --release`
}

export interface WaitFlags extends RemoteFlags {
  readonly account?: string
  readonly number?: string
  readonly field?: string
  readonly kind?: string
  readonly message?: string
  readonly after?: string
  readonly since?: string
  readonly timeout?: string
}

/** Waits until something has happened, and prints it; ends with 1 when nothing came. */
export async function waitForFeedItem(type: string, flags: WaitFlags): Promise<void> {
  const { account: account_id, number: phone_number_id, message: message_id, ...same } = flags
  const { field, kind, after, since, timeout } = same
  const filters = { account_id, phone_number_id, message_id, field, kind, after, since }
  // The server knows which types there are, and says so.
  const params = { type, ...filters, timeout } as OperatorFeedWaitParams
  const found = await ask(requireRemote(flags), ({ operator }) => operator.feed.wait(params))
  process.stdout.write(`${JSON.stringify(found)}\n`)
}
