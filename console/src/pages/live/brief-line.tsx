import type { FeedItem } from '../../data/feed-items.ts'
import { Badge, Time, To } from '../../ui/parts.tsx'
import { nameType } from './describe.ts'
import { describeItem, linkOf } from './described.ts'

/** A line of Live beside the phones. */
export function LiveLine({ item }: { readonly item: FeedItem }) {
  const { text, detail, result, tone } = describeItem(item)
  const link = linkOf(item)
  const content = (
    <>
      <Time at={item.time} />
      <span class={`type type-${item.type}`}>{nameType(item.type)}</span>
      <span class="what" title={detail === undefined ? text : `${text} ${detail}`}>
        {text}
        {detail !== undefined && <bdi class="soft">{` ${detail}`}</bdi>}
      </span>
      <Badge tone={tone}>{result}</Badge>
    </>
  )
  return (
    <li class="live-line">
      {link === undefined ? (
        <span class="line-body">{content}</span>
      ) : (
        <To href={link} class="line-body">
          {content}
        </To>
      )}
    </li>
  )
}
