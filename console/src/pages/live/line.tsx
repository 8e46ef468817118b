import { useMemo } from 'preact/hooks'
import { nameOf } from '../../data/directory.ts'
import type { FeedItem } from '../../data/feed-items.ts'
import { Icon } from '../../ui/icons.tsx'
import { Instant } from '../../ui/moments.tsx'
import { Badge } from '../../ui/parts.tsx'
import { writeWholeDay } from '../../ui/times.ts'
import { nameType } from './describe.ts'
import { describeItem } from './described.ts'
import { type GroupRow, type LiveRow, summarizeGroup } from './rows.ts'

interface LineProps {
  readonly row: LiveRow
  /** How far it is from the end of the list: that does not change when others arrive above. */
  readonly offset: number
  readonly isChosen: boolean
}

/** Drawn anew only when it has changed: with every line that arrives all of them are looked at. */
export function Line({ row, offset, isChosen }: LineProps) {
  const item = row.type === 'member' ? row.item : row.type === 'group' ? row.lead : row
  const name = item.type === 'day' ? '' : nameOf(item.phone_number_id)
  return useMemo(() => {
    const style = { transform: `translateY(${offset}px)` }
    if (row.type === 'day') {
      return (
        <div class="entry between" style={style} aria-hidden="true">
          {writeWholeDay(new Date(row.time))}
        </div>
      )
    }
    return (
      <div
        role="treeitem"
        tabIndex={-1}
        aria-level={row.type === 'member' ? 2 : 1}
        {...(row.type === 'group' && { 'aria-expanded': row.isOpen })}
        id={`line-${row.id}`}
        data-row={row.id}
        aria-selected={isChosen}
        class={`entry of-${row.type === 'member' || row.type === 'group' ? row.type : 'item'} ${isChosen ? 'chosen' : ''}`}
        style={style}
      >
        {row.type === 'group' ? <Group row={row} name={name} /> : <Item item={item as FeedItem} name={name} />}
      </div>
    )
  }, [row, item, offset, isChosen, name])
}

function Item({ item, name }: { readonly item: FeedItem; readonly name: string }) {
  const { text, detail, result, tone } = describeItem(item)
  const { type, phone_number_id } = item
  const took = item.type === 'request' || item.type === 'try' ? `${Math.round(item.data.milliseconds)} ms` : ''
  return (
    <>
      <Instant at={item.time} />
      <span class={`type type-${type}`} data-filter="type" data-value={type} title={`Show only ${nameType(type)}`}>
        {nameType(type)}
      </span>
      <span class={`what ${tone === 'bad' ? 'bad' : ''}`} title={detail === undefined ? text : `${text} ${detail}`}>
        {text}
        {detail !== undefined && <bdi class="detail">{detail}</bdi>}
      </span>
      <span
        class="number soft"
        {...(name !== '' && {
          'data-filter': 'number',
          'data-value': phone_number_id ?? '',
          title: `Show only ${name}`,
        })}
      >
        {name}
      </span>
      <span class="took soft">{took}</span>
      <span class="end" data-filter="q" data-value={result} title={`Filter by ${result}`}>
        {result !== '' && <Badge tone={tone}>{result}</Badge>}
      </span>
    </>
  )
}

function Group({ row, name }: { readonly row: GroupRow; readonly name: string }) {
  const { lead, items, isOpen } = row
  const { text, detail } = describeItem(lead)
  const { result, tone } = summarizeGroup(items, (item) => describeItem(item).tone)
  return (
    <>
      <Instant at={row.time} />
      <span class={`type type-${lead.type}`}>
        <span class={`turn ${isOpen ? 'open' : ''}`}>
          <Icon name="fold" />
        </span>
        {nameType(lead.type)}
      </span>
      <span class={`what ${tone === 'bad' ? 'bad' : ''}`} title={text}>
        {text}
        {detail !== undefined && <bdi class="detail">{detail}</bdi>}
      </span>
      <span class="number soft">{name}</span>
      <span class="took soft">{`${items.length} lines`}</span>
      <span class="end">
        <Badge tone={tone}>{result}</Badge>
      </span>
    </>
  )
}
