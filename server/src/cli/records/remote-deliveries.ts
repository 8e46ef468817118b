import { setTimeout as wait } from 'node:timers/promises'
import type { OperatorDeliveriesListParams } from '@switchboard/client'
import { second } from '../../base/time/duration.ts'
import { ask, type Remote } from '../remote.ts'

interface RemoteFilter {
  readonly failed: boolean
  readonly account: string | undefined
  readonly since: string | undefined
  readonly until: string | undefined
  readonly limit: number
}

/** The newest deliveries of a server; `failed`: only given up or failing ones. */
export async function listRemoteDeliveries(remote: Remote, { failed, account, since, until, limit }: RemoteFilter) {
  const list = (state?: OperatorDeliveriesListParams['state']) =>
    ask(remote, ({ operator }) => {
      const params = { account_id: account, state, since, until, limit: Math.min(limit, 1000) }
      return operator.deliveries.list(params).toArray(limit)
    })
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
    const { lanes } = await ask(remote, ({ operator }) => operator.state.retrieve())
    const oldest = lanes.oldest_age === null ? '-' : `${lanes.oldest_age} s`
    process.stdout.write(`waiting ${lanes.waiting} | subscribers down ${lanes.down} | oldest ${oldest}\n`)
    await wait(second, undefined, { signal: stop.signal }).catch(() => undefined)
  }
}
