import { useSignal } from '@preact/signals'
import { digitsOf, isDirectoryRead, numbers } from '../../data/directory.ts'
import type { Chat } from '../../data/phone/chat.ts'
import { keyOf } from '../../data/phone/chat-key.ts'
import { nameUser } from '../../data/phone/names.ts'
import type { Phone } from '../../data/phone/phone.ts'
import { Ticks } from '../../ui/icons.tsx'
import { Avatar } from './avatar.tsx'
import { CallHistory } from './call/call-history.tsx'
import { writeChatTime } from './chat-time.ts'
import { nameChat, summarize, writeDigits } from './summarize.ts'
import './chat-list.css'

/** The chats of a phone, the businesses that it can write to, and its last calls. */
export function ChatList({ phone }: { readonly phone: Phone }) {
  const chats = phone.store.listed.value
  const { value: areRead } = phone.store.areChatsRead
  const known = new Set(chats.map(keyOf))
  if (phone.store.isOfBusiness.value) {
    return (
      <div class="chats">
        <p class="soft none">The number of a business: its codes are shown here. It gets no messages.</p>
      </div>
    )
  }
  const others = numbers.value.filter(({ id }) => !known.has(id))
  return (
    <div class="chats">
      {chats.length > 0 && (
        <ul aria-label="Chats">
          {chats.map((chat) => (
            <li key={keyOf(chat)}>
              <ChatEntry phone={phone} chat={chat} />
            </li>
          ))}
        </ul>
      )}
      {areRead && numbers.value.length > 0 && (
        <details open={chats.length === 0}>
          <summary>Write to a business</summary>
          <NewChat phone={phone} />
          <ul>
            {others.map(({ id, verified_name, display_phone_number }) => (
              <li key={id}>
                <button type="button" class="chat-entry" onClick={() => void phone.openChat({ phone_number_id: id })}>
                  <Avatar name={verified_name || display_phone_number} />
                  <span class="chat-text">
                    <b dir="auto">{verified_name || display_phone_number}</b>
                    <span class="soft">{display_phone_number}</span>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
      <CallHistory phone={phone} />
      {isDirectoryRead.value && areRead && chats.length === 0 && numbers.value.length === 0 && (
        <p class="soft none">No business has a number yet.</p>
      )}
    </div>
  )
}

/** Opens the chat with a business by its number. */
function NewChat({ phone }: { readonly phone: Phone }) {
  const problem = useSignal<string | undefined>(undefined)
  return (
    <form
      class="new-chat"
      onSubmit={(event) => {
        event.preventDefault()
        const digits = String(new FormData(event.currentTarget).get('number')).replaceAll(/\D/g, '')
        const number = numbers.value.find((one) => digitsOf(one) === digits)
        problem.value = number ? undefined : 'No business has this number.'
        if (number) void phone.openChat({ phone_number_id: number.id })
      }}
    >
      <input name="number" inputMode="tel" required aria-label="Number of a business" placeholder="Number" />
      <button type="submit" class="small">
        Open
      </button>
      {problem.value !== undefined && (
        <p class="bad" role="alert">
          {problem.value}
        </p>
      )}
    </form>
  )
}

function ChatEntry({ phone, chat }: { readonly phone: Phone; readonly chat: Chat }) {
  const { last_message: last, unread_count } = chat
  const title = nameChat(chat)
  return (
    <button type="button" class="chat-entry" onClick={() => void phone.openChat(chat)}>
      <Avatar name={title} isGroup={chat.group_id !== undefined} />
      <span class="chat-text">
        <b dir="auto">{title}</b>
        <LastMessage phone={phone} chat={chat} />
      </span>
      <span class="chat-side">
        <span class="soft">{last && writeChatTime(last.timestamp)}</span>
        {chat.blocked && <span class="badge warn">Blocked</span>}
        {unread_count > 0 && (
          <span class="unread">
            {unread_count}
            <span class="unseen"> unread</span>
          </span>
        )}
      </span>
    </button>
  )
}

function LastMessage({ phone, chat }: { readonly phone: Phone; readonly chat: Chat }) {
  const { last_message: last, group_id, phone_number_id } = chat
  if (group_id === undefined && phone.store.typing.value.has(phone_number_id)) {
    return <em class="soft good">typing…</em>
  }
  if (!last) return <span class="soft" />
  const isMine = last.from === phone.wa_id
  const sender = group_id === undefined || isMine || last.direction === 'to_user' ? '' : `${nameSender(last.from)}: `
  return (
    <span class="soft" dir="auto">
      {isMine && <Ticks state={last.state} />}
      {sender + summarize(last)}
    </span>
  )
}

function nameSender(wa_id: string): string {
  return nameUser(wa_id) ?? writeDigits(wa_id)
}
