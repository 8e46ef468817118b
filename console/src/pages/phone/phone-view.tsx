import { useSignal } from '@preact/signals'
import { isDirectoryRead, numbers } from '../../data/directory.ts'
import { type ChatKey, keyOf, type Phone } from '../../data/phones.ts'
import type { Chat } from '../../data/types.ts'
import { Icon, Ticks } from '../../ui/icons.tsx'
import { CopyButton, IconButton } from '../../ui/parts.tsx'
import { Avatar } from './avatar.tsx'
import { CallHistory } from './call-history.tsx'
import { CallScreen } from './call-screen.tsx'
import { writeChatTime } from './chat-time.ts'
import { ChatView } from './chat-view.tsx'
import { PhoneSettings } from './settings.tsx'
import { nameChat, summarize, writeDigits } from './summarize.ts'

/** One phone: its chats, an open chat, or a call. */
export function PhoneView({ phone, onRemove }: { readonly phone: Phone; readonly onRemove: () => void }) {
  const showsSettings = useSignal(false)
  const user = phone.user.value
  const name = user?.name ?? writeDigits(phone.wa_id)
  const open = phone.open.value
  return (
    <article class="phone" aria-label={`Phone of ${name}`}>
      <header class="phone-head">
        <Avatar name={name} />
        <div class="grow">
          <h2>{name}</h2>
          <p class="soft">{writeDigits(phone.wa_id)}</p>
        </div>
        <span class={`presence ${user?.presence ?? ''}`} title={user?.presence === 'online' ? 'Online' : 'Offline'}>
          <span class="unseen">{user?.presence}</span>
        </span>
        <IconButton
          icon="gear"
          label={`Settings of ${name}`}
          onClick={() => {
            showsSettings.value = true
          }}
        />
        <IconButton icon="close" label={`Remove the phone of ${name}`} onClick={onRemove} />
      </header>
      <div class="screen">
        {phone.sms.value && <SmsNote phone={phone} />}
        {open ? <ChatView key={keyOf(open)} phone={phone} chatKey={open} /> : <ChatList phone={phone} />}
        {phone.call.value && <CallScreen phone={phone} shown={phone.call.value} />}
        {phone.problem.value && (
          <p class="phone-problem" role="alert">
            <span>{phone.problem.value}</span>
            <IconButton
              icon="close"
              label="Dismiss"
              onClick={() => {
                phone.problem.value = undefined
              }}
            />
          </p>
        )}
      </div>
      {showsSettings.value && (
        <PhoneSettings
          phone={phone}
          onClose={() => {
            showsSettings.value = false
          }}
        />
      )}
    </article>
  )
}

function SmsNote({ phone }: { readonly phone: Phone }) {
  const sms = phone.sms.value
  if (!sms) return null
  return (
    <div class="sms">
      <Icon name="sms" />
      <p class="grow">
        <b>{sms.kind === 'voice' ? 'Voice call' : 'SMS'}</b> Your code is <b class="mono">{sms.code}</b>
      </p>
      <CopyButton text={sms.code} />
    </div>
  )
}

function ChatList({ phone }: { readonly phone: Phone }) {
  const chats = phone.chats.value
  const known = new Set(chats.map(keyOf))
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
      {others.length > 0 && (
        <details open={chats.length === 0}>
          <summary>Write to a business</summary>
          <ul>
            {others.map(({ id, verified_name, display_phone_number }) => (
              <li key={id}>
                <button type="button" class="chat-entry" onClick={() => void phone.openChat({ phone_number_id: id })}>
                  <Avatar name={verified_name || display_phone_number} />
                  <span class="chat-text">
                    <b>{verified_name || display_phone_number}</b>
                    <span class="soft">{display_phone_number}</span>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
      <CallHistory phone={phone} />
      {isDirectoryRead.value && chats.length === 0 && others.length === 0 && (
        <p class="soft pad">No business has a number yet.</p>
      )}
    </div>
  )
}

function ChatEntry({ phone, chat }: { readonly phone: Phone; readonly chat: Chat }) {
  const { last_message: last, unread_count } = chat
  const title = nameChat(chat)
  const isTyping = phone.typing.value.has(chat.phone_number_id) && chat.group_id === undefined
  const key: ChatKey = { phone_number_id: chat.phone_number_id, ...(chat.group_id && { group_id: chat.group_id }) }
  return (
    <button type="button" class="chat-entry" onClick={() => void phone.openChat(key)}>
      <Avatar name={title} isGroup={chat.group_id !== undefined} />
      <span class="chat-text">
        <b>{title}</b>
        <span class="soft one-line">
          {isTyping ? (
            <em class="good">typing…</em>
          ) : (
            last && (
              <>
                {last.direction === 'to_business' && <Ticks state={last.state} />}
                {summarize(last)}
              </>
            )
          )}
        </span>
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
