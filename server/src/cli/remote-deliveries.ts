import { setTimeout as wait } from 'node:timers/promises'
import { second } from '../base/duration.ts'
import { askForObject, listRemote, type Remote } from './remote.ts'

/** A delivery as the operator door shows it. */
interface ShownDelivery {
  readonly id: string
  readonly app_id: string
  readonly account_id: string
  readonly field: string
  readonly conversation: string
  readonly state: 'waiting' | 'delivered' | 'failed' | 'withdrawn'
  readonly attempts: number
  readonly callback_url: string
  readonly created_time: string
  readonly next_time: string | null
}

/** The newest deliveries of a server; `failed`: only given up or failing ones. */
export async function listRemoteDeliveries(
  remote: Remote,
  { failed, account, limit }: { failed: boolean; account: string | undefined; limit: number },
) {
  const list = (state?: string) =>
    listRemote<ShownDelivery>(remote, 'deliveries', { account_id: account, state }, limit)
  const found = failed ? [...(await list('failed')), ...(await list('failing'))] : await list()
  return found
    .map((delivery) => ({ ...delivery, id: Number(delivery.id) }))
    .sort((a, b) => b.id - a.id)
    .slice(0, limit)
}

/** One line every second, until Ctrl-C. */
export async function watchRemote(remote: Remote): Promise<void> {
  const stop = new AbortController()
  const end = () => stop.abort()
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
  while (!stop.signal.aborted) {
    const { lanes } = await askForObject<{ lanes: { waiting: number; down: number; oldest_age: number | null } }>(
      remote,
      'state',
    )
    const oldest = lanes.oldest_age === null ? '-' : `${lanes.oldest_age} s`
    process.stdout.write(`waiting ${lanes.waiting} | subscribers down ${lanes.down} | oldest ${oldest}\n`)
    await wait(second, undefined, { signal: stop.signal }).catch(() => undefined)
  }
}
