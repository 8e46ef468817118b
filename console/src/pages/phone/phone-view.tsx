import { useSignal } from '@preact/signals'
import { keyOf } from '../../data/phone/chat-key.ts'
import type { Phone } from '../../data/phone/phone.ts'
import { Icon } from '../../ui/icons.tsx'
import { CopyButton, IconButton } from '../../ui/parts.tsx'
import { Avatar } from './avatar.tsx'
import { CallScreen } from './call/call-screen.tsx'
import { ChatView } from './chat/chat-view.tsx'
import { ChatList } from './chat-list.tsx'
import { PhoneSettings } from './settings.tsx'
import { writeDigits } from './summarize.ts'
import './phone-view.css'

/** One phone: its chats, an open chat, or a call. */
export function PhoneView({ phone, onRemove }: { readonly phone: Phone; readonly onRemove: () => void }) {
  const showsSettings = useSignal(false)
  const { store } = phone
  const user = store.user.value
  const name = user?.name ?? writeDigits(phone.wa_id)
  const chat = store.chat.value
  return (
    <article class="handset" aria-label={`Phone of ${name}`}>
      <header class="handset-head">
        <Avatar name={name} />
        <div class="grow">
          <h2 dir="auto">{name}</h2>
          <p class="soft">{writeDigits(phone.wa_id)}</p>
        </div>
        <Unread phone={phone} />
        <span class={`presence ${user?.presence ?? ''}`} title={store.isOnline ? 'Online' : 'Offline'}>
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
        <SmsNote phone={phone} />
        {user?.presence === 'offline' && (
          <p class="offline-note">Offline: what is sent waits until the phone is online.</p>
        )}
        {chat ? <ChatView key={keyOf(chat.key)} phone={phone} chat={chat} /> : <ChatList phone={phone} />}
        {store.call.value && <CallScreen phone={phone} shown={store.call.value} />}
        {store.problem.value && (
          <p class="handset-problem" role="alert">
            <span>{store.problem.value}</span>
            <IconButton
              icon="close"
              label="Dismiss"
              onClick={() => {
                store.problem.value = undefined
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

/** How many messages of all chats nobody has looked at. */
function Unread({ phone }: { readonly phone: Phone }) {
  const count = phone.store.listed.value.reduce((sum, { unread_count }) => sum + unread_count, 0)
  if (count === 0) return null
  return (
    <span class="unread" title={`${count} unread`}>
      {count}
      <span class="unseen"> unread</span>
    </span>
  )
}

function SmsNote({ phone }: { readonly phone: Phone }) {
  const sms = phone.store.sms.value
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
