import { operatorTracesRetrieve } from '@switchboard/client/methods'
import type { ComponentChildren } from 'preact'
import { nameOf } from '../../data/directory.ts'
import { type FeedItem, readFeedItem } from '../../data/feed-items.ts'
import { client } from '../../data/http.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { Exact, Instant } from '../../ui/moments.tsx'
import { Badge, IconButton, To } from '../../ui/parts.tsx'
import { StepDetails } from '../trace/step-details.tsx'
import { nameType } from './describe.ts'
import { describeItem } from './described.ts'
import { userOf } from './users.ts'

interface DetailsProps {
  readonly item: FeedItem
  readonly onFilter: (name: string, value: string) => void
  readonly onClose: () => void
}

/** One line of Live with all that is known of it; every value can become the filter. */
export function Details({ item, onFilter, onClose }: DetailsProps) {
  const { text, detail, result, tone } = describeItem(item)
  const { type, trace, phone_number_id, data } = item
  const user = userOf(item)
  const app = 'app_id' in data ? data.app_id : null
  const only = (name: string, value: string) => (
    <button type="button" class="small" onClick={() => onFilter(name, value)}>
      Only this
    </button>
  )
  return (
    <aside class="details" aria-label="The selected line">
      <header>
        <h2>{nameType(type)}</h2>
        <Badge tone={tone}>{result}</Badge>
        <span class="grow" />
        <IconButton icon="close" label="Close the details" onClick={onClose} />
      </header>
      <p dir="auto" class="break">
        {text}
        {detail !== undefined && <bdi class="detail">{detail}</bdi>}
      </p>
      <dl>
        <Fact name="Time">
          <Exact at={item.time} />
          <span class="soft">
            {' ('}
            <Instant at={item.time} />)
          </span>
        </Fact>
        {trace !== null && (
          <Fact name="Trace" more={only('q', trace)}>
            <To href={`/traces/${trace}`} class="mono">
              {trace}
            </To>
          </Fact>
        )}
        {(type === 'delivery' || type === 'try') && (
          <Fact name="Webhook">
            <To href={`/deliveries/${data.delivery_id}`}>{data.delivery_id}</To>
          </Fact>
        )}
        {user !== undefined && (
          <Fact name="User" more={only('q', user)}>
            <To href={`/?phones=${user}`}>{`+${user}`}</To>
          </Fact>
        )}
        {phone_number_id !== null && (
          <Fact name="Number" more={only('number', phone_number_id)}>
            <To href={`/resources/${phone_number_id}`}>{nameOf(phone_number_id)}</To>
          </Fact>
        )}
        {app !== null && (
          <Fact name="App" more={only('q', app)}>
            <To href={`/resources/${app}`}>{nameOf(app)}</To>
          </Fact>
        )}
        {type === 'request' && (
          <Fact name="Operation" more={only('q', data.operation)}>
            <span class="mono">{data.operation}</span>
          </Fact>
        )}
      </dl>
      {type === 'request' && data.exchange === undefined && trace !== null ? (
        <Exchanged item={item} trace={trace} />
      ) : (
        <StepDetails item={item} />
      )}
    </aside>
  )
}

interface FactProps {
  readonly name: string
  readonly more?: ComponentChildren
  readonly children: ComponentChildren
}

function Fact({ name, more, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
      {more}
    </div>
  )
}

/** Headers and bodies are not kept of ten thousand lines: they are read for the one that shows them. */
function Exchanged({ item, trace }: { readonly item: FeedItem; readonly trace: string }) {
  const read = useLoaded(item.id, async () => {
    const { data } = await operatorTracesRetrieve(client, trace)
    const found = data.find(({ id }) => id === item.id)
    return found ? readFeedItem(found) : item
  })
  return (
    <Loaded of={read} what="the bodies" missing={<p class="soft">The service does not keep this request any more.</p>}>
      {(whole) => <StepDetails item={whole} />}
    </Loaded>
  )
}
