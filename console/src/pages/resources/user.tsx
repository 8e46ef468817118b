import { type GatewayChatsListItem, gatewayChatsList, gatewayUsersRetrieve } from '@switchboard/client/methods'
import { client } from '../../data/http.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { More, usePages } from '../../ui/load/paged.tsx'
import { Badge, Empty, Head, To } from '../../ui/parts.tsx'
import { writeDigits } from '../phone/summarize.ts'
import { AsJson, FactRow, Facts } from './facts.tsx'
import { listFacts } from './words.ts'

/** A user: the settings of the phone, and the chats. */
export function UserPage({ wa_id }: { readonly wa_id: string }) {
  const user = useLoaded(wa_id, () => gatewayUsersRetrieve(client, wa_id))
  const chats = usePages(
    `chats ${wa_id}`,
    (after) => gatewayChatsList(client, wa_id, { limit: 25, ...(after !== undefined && { after }) }),
    (chat) => chat.group_id ?? chat.phone_number_id,
  )
  return (
    <div class="page page-resources">
      <Loaded of={user} what="the user">
        {(value) => (
          <>
            <Head title={value.name ?? writeDigits(wa_id)}>
              <To href={`/?phones=${wa_id}`}>Open the phone</To>
              <To href={`/calls?user=${wa_id}`}>Calls</To>
              <To href="/resources?kind=user">Users</To>
            </Head>
            <section class="card">
              <h2>Phone</h2>
              <Facts of={listFacts(value, ['wa_id'])}>
                <FactRow name="Phone number">{writeDigits(wa_id)}</FactRow>
              </Facts>
            </section>
            <AsJson value={value} label={`GET /gateway/users/${wa_id}`} />
          </>
        )}
      </Loaded>
      <section class="block" aria-label="Chats">
        <h2>Chats</h2>
        <Loaded
          of={chats}
          what="the chats"
          isEmpty={(rows) => rows.length === 0}
          empty={<Empty title="The user has no chat yet" />}
        >
          {(rows) => (
            <>
              <ul class="plain-list">
                {rows.map((chat) => (
                  <ChatRow key={chat.group_id ?? chat.phone_number_id} chat={chat} />
                ))}
              </ul>
              <More of={chats} what="chats" />
            </>
          )}
        </Loaded>
      </section>
    </div>
  )
}

function ChatRow({ chat }: { readonly chat: GatewayChatsListItem }) {
  const { group_id, phone_number_id, subject, verified_name, display_phone_number, blocked, unread_count } = chat
  return (
    <li class="row">
      <span class="grow">
        <bdi>
          <To href={`/resources/${group_id ?? phone_number_id}`}>
            {subject ?? (verified_name || display_phone_number)}
          </To>
        </bdi>
      </span>
      {blocked && <Badge tone="bad">Blocked</Badge>}
      {unread_count > 0 && <Badge tone="warn">{`${unread_count} unread`}</Badge>}
    </li>
  )
}
