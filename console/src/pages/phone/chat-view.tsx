import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { numbers } from '../../data/directory.ts'
import { serviceNow } from '../../data/live.ts'
import { type ChatKey, keyOf, type Phone } from '../../data/phones.ts'
import type { Chat, Message } from '../../data/types.ts'
import { useReachable } from '../../ui/hooks.ts'
import { IconButton } from '../../ui/parts.tsx'
import { writeLongDay } from '../../ui/times.ts'
import { Avatar } from './avatar.tsx'
import { Bubble } from './bubble.tsx'
import { startCall } from './call-screen.tsx'
import { Compose } from './compose.tsx'
import { nameChat } from './summarize.ts'

/** An open chat. */
export function ChatView({ phone, chatKey }: { readonly phone: Phone; readonly chatKey: ChatKey }) {
  const replyTo = useSignal<Message | undefined>(undefined)
  const chat = phone.chats.value.find((one) => keyOf(one) === keyOf(chatKey))
  const number = numbers.value.find(({ id }) => id === chatKey.phone_number_id)
  const title = chat ? nameChat(chat) : (number?.verified_name ?? chatKey.phone_number_id)
  return (
    <section
      class="chat"
      aria-label={`Chat with ${title}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        if (replyTo.value) replyTo.value = undefined
        else void phone.openChat(undefined)
      }}
    >
      <header class="chat-head">
        <IconButton icon="back" label="Back to the chats" onClick={() => void phone.openChat(undefined)} />
        <Avatar name={title} isGroup={chatKey.group_id !== undefined} />
        <div class="grow">
          <h3>{title}</h3>
          <p class="soft">{describe(phone, chatKey, chat)}</p>
        </div>
        {chatKey.group_id === undefined && (
          <>
            <IconButton icon="calls" label={`Call ${title}`} onClick={() => void startCall(phone, chatKey)} />
            <ChatMenu phone={phone} chatKey={chatKey} chat={chat} />
          </>
        )}
      </header>
      <Messages phone={phone} onReply={(message) => (replyTo.value = message)} />
      <Compose phone={phone} chatKey={chatKey} replyTo={replyTo} />
    </section>
  )
}

function describe(phone: Phone, key: ChatKey, chat: Chat | undefined): string {
  if (key.group_id === undefined && phone.typing.value.has(key.phone_number_id)) return 'typing…'
  if (key.group_id !== undefined) return `Group of ${chat?.verified_name ?? ''}`
  const end = chat?.window_expires_at
  if (end === undefined || Number(end) * 1000 <= serviceNow()) return 'Window closed'
  const minutes = Math.max(0, Math.round((Number(end) * 1000 - serviceNow()) / 60_000))
  const left = minutes >= 60 ? `${Math.floor(minutes / 60)} h` : `${minutes} min`
  return `Window open, ${left} left`
}

function ChatMenu(props: { readonly phone: Phone; readonly chatKey: ChatKey; readonly chat: Chat | undefined }) {
  const { phone, chatKey, chat } = props
  const menu = useRef<HTMLDivElement>(null)
  const id = `menu-${phone.wa_id}-${chatKey.phone_number_id}`
  const hide = () => menu.current?.hidePopover()
  return (
    <>
      <button type="button" class="bare" popovertarget={id} aria-label="More" title="More">
        <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
          <path d="M12 5h.01M12 12h.01M12 19h.01" />
        </svg>
      </button>
      <div id={id} ref={menu} popover="auto" class="menu">
        <button
          type="button"
          onClick={() => {
            void phone.setChat(chatKey, { blocked: !chat?.blocked })
            hide()
          }}
        >
          {chat?.blocked ? 'Unblock this business' : 'Block this business'}
        </button>
        <button
          type="button"
          onClick={() => {
            void phone.setChat(chatKey, { marketing: chat?.marketing === 'stop' ? 'resume' : 'stop' })
            hide()
          }}
        >
          {chat?.marketing === 'stop' ? 'Resume marketing messages' : 'Stop marketing messages'}
        </button>
      </div>
    </>
  )
}

/** Bubbles, the newest at the bottom, where one stays while one is there. */
function Messages({ phone, onReply }: { readonly phone: Phone; readonly onReply: (message: Message) => void }) {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const messages = phone.messages.value
  const newest = messages.at(-1)?.id
  useEffect(() => {
    const { current } = box
    if (current && messages.length > 0 && (isAtEnd.current || newest === undefined)) {
      current.scrollTo({ top: current.scrollHeight })
    }
  }, [newest, messages.length])
  useReachable(box)
  const reactions = gatherReactions(messages)
  let day = ''
  return (
    <div
      class="messages"
      ref={box}
      role="log"
      aria-label="Messages"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 60
      }}
    >
      {phone.older.value !== undefined && (
        <button type="button" class="small older" onClick={() => void phone.readOlder()}>
          Show older messages
        </button>
      )}
      {messages
        .filter(({ type }) => type !== 'reaction')
        .map((message) => {
          const date = writeLongDay(new Date(Number(message.timestamp) * 1000))
          const isNewDay = date !== day
          day = date
          return (
            <div key={message.id} class="line">
              {isNewDay && <p class="day">{date}</p>}
              <Bubble
                phone={phone}
                message={message}
                quoted={message.context && messages.find(({ id }) => id === message.context?.id)}
                reactions={reactions.get(message.id) ?? []}
                onReply={() => onReply(message)}
              />
            </div>
          )
        })}
      {messages.length === 0 && <p class="day">No message yet</p>}
      {phone.open.value &&
        phone.open.value.group_id === undefined &&
        phone.typing.value.has(phone.open.value.phone_number_id) && (
          <p class="bubble theirs typing" role="img" aria-label="The business is typing">
            <i />
            <i />
            <i />
          </p>
        )}
    </div>
  )
}

/** The reactions that stand: the last of each side, unless it was taken back. */
function gatherReactions(messages: readonly Message[]): ReadonlyMap<string, readonly string[]> {
  const standing = new Map<string, Map<string, string>>()
  for (const message of messages) {
    if (message.type !== 'reaction') continue
    const { message_id, emoji } = (message['reaction'] ?? {}) as { message_id?: string; emoji?: string }
    if (message_id === undefined) continue
    const bySide = standing.get(message_id) ?? new Map<string, string>()
    if (emoji) bySide.set(message.from, emoji)
    else bySide.delete(message.from)
    standing.set(message_id, bySide)
  }
  return new Map([...standing].map(([id, bySide]) => [id, [...bySide.values()]]))
}
