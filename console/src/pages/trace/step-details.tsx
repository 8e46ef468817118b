import type { RequestData } from '../../data/feed-data.ts'
import type { FeedItem } from '../../data/feed-items.ts'
import { base, isSandbox } from '../../data/http.ts'
import { BodyView, JsonView } from '../../ui/json/view.tsx'
import { Code, To } from '../../ui/parts.tsx'
import { userOf } from '../live/users.ts'
import { writeCurl, writeSdkCall } from './curl.ts'

/** What is known of one step: bodies, and where it leads. */
export function StepDetails({ item }: { readonly item: FeedItem }) {
  const user = userOf(item)
  return (
    <>
      <Content item={item} />
      <p class="row">
        {(item.type === 'delivery' || item.type === 'try') && (
          <To
            href={`/deliveries/${item.data.delivery_id}`}
          >{`Webhook ${item.data.delivery_id}: bytes and attempts`}</To>
        )}
        {user !== undefined && <To href={`/?phones=${user}`}>{`Phone of +${user}`}</To>}
        {item.phone_number_id !== null && <To href={`/resources/${item.phone_number_id}`}>Number</To>}
      </p>
    </>
  )
}

function Content({ item }: { readonly item: FeedItem }) {
  switch (item.type) {
    case 'request':
      return <Bodies data={item.data} />
    case 'event':
    case 'message':
    case 'call': {
      const { value, isRemoved } = item.data
      if (isRemoved) return <p class="soft">The content of this event is no longer kept.</p>
      if (value === undefined) return <p class="soft">The value is large: its webhooks show it.</p>
      return <JsonView label="Value of the event" value={value} />
    }
    default:
      return <JsonView label="What is recorded" value={item.data} />
  }
}

function Bodies({ data }: { readonly data: RequestData }) {
  const { exchange } = data
  if (!exchange)
    return (
      <p class="soft">{isSandbox ? 'The trace shows its bodies.' : 'Headers and bodies are kept only in a sandbox.'}</p>
    )
  const origin = location.origin + base
  const sdk = writeSdkCall(data, origin)
  return (
    <>
      <div class="two">
        <BodyView label="Sent" text={exchange.request_body} />
        <BodyView label="Response" text={exchange.response_body} none="No body is kept" />
      </div>
      <div class="two">
        <Code label="As curl" text={writeCurl(data, origin)} />
        {sdk !== undefined && <Code label="By @switchboard/client" text={sdk} />}
      </div>
    </>
  )
}
