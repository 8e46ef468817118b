import { type Signal, useSignal } from '@preact/signals'
import { operatorDeliveriesList } from '@switchboard/client/methods'
import { useEffect, useRef } from 'preact/hooks'
import type { ItemOf } from '../../data/feed-items.ts'
import { client } from '../../data/http.ts'
import { watch } from '../../data/live.ts'
import type { Delivery } from '../../data/types.ts'
import { entryKey } from '../../router.ts'
import { useLatest } from '../../ui/hooks.ts'
import { type Pages, usePages } from '../../ui/load/paged.tsx'
import { type DeliveryFilter, fitsFilter } from './filter.ts'

const pageSize = 50

interface DeliveryList extends Pages<Delivery> {
  /** How many webhooks were created since the list was read: they are not shown until somebody wants them. */
  readonly newer: Signal<number>
  readonly showNewer: () => void
}

/** The webhooks that fit a filter. What is shown follows what happens to it, but nothing is put above what one reads. */
export function useDeliveryList(filter: DeliveryFilter): DeliveryList {
  const key = `${entryKey()} ${JSON.stringify(filter)}`
  /** The newest that is shown, and before which time it was created. */
  const top = useRef<{ readonly key: string; readonly id: number; readonly until: string }>(undefined)
  const newer = useSignal(0)
  const known = useRef(new Set<string>())
  const read = async (after: string | undefined) => {
    const pinned = after === undefined && top.current?.key === key ? { until: top.current.until } : {}
    const page = await operatorDeliveriesList(client, {
      ...filter,
      ...pinned,
      limit: pageSize,
      ...(after !== undefined && { after }),
    })
    if (after === undefined && !pinned.until) pin(page.data[0])
    return page
  }
  const pin = (first: Delivery | undefined) => {
    top.current = first && { key, id: Number(first.id), until: justAfter(first.created_time) }
    known.current = new Set()
    newer.value = 0
  }
  const list = usePages(`deliveries ${key}`, read, ({ id }) => id)
  // Whoever comes back finds the list as it was.
  const isFirst = useRef(true)
  const { value: load } = list.load
  if (isFirst.current && load.state === 'ready') pin(load.value[0])
  isFirst.current = false
  const count = useLatest((item: ItemOf<'delivery'>) => {
    const { delivery_id } = item.data
    if (top.current?.key !== key || Number(delivery_id) <= top.current.id || known.current.has(delivery_id)) return
    if (!fitsFilter(item, filter)) return
    known.current.add(delivery_id)
    newer.value = known.current.size
  })
  useEffect(
    () =>
      watch((item) => {
        if (item.type === 'delivery') count(item)
      }),
    [count],
  )
  const showNewer = () => {
    top.current = undefined
    void list.reload()
  }
  return { ...list, newer, showNewer }
}

function justAfter(time: string): string {
  return new Date(Date.parse(time) + 1).toISOString()
}
