import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
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
  const screen = useRef<HTMLDivElement>(null)
  const { store } = phone
  const call = store.call.value
  useCallFocus(screen, call !== undefined)
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
      <div class="screen" ref={screen}>
        <div class="covered" inert={call !== undefined}>
          <SmsNote phone={phone} />
          {user?.presence === 'offline' && (
            <p class="offline-note">Offline: what is sent waits until the phone is online.</p>
          )}
          {chat ? <ChatView key={keyOf(chat.key)} phone={phone} chat={chat} /> : <ChatList phone={phone} />}
        </div>
        {call && <CallScreen phone={phone} shown={call} />}
        {!call && store.problem.value && (
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

/** Whoever works with the keyboard goes on in a call as soon as it covers the chat, and afterwards where they were. */
function useCallFocus(screen: RefObject<HTMLElement | null>, hasCall: boolean): void {
  const left = useRef<Element | null>(null)
  useLayoutEffect(() => {
    const { activeElement } = document
    if (hasCall) {
      left.current = screen.current?.contains(activeElement) ? activeElement : null
      if (left.current) screen.current?.querySelector<HTMLElement>('.call-screen')?.focus()
      return
    }
    if (left.current instanceof HTMLElement && activeElement === document.body) left.current.focus()
    left.current = null
  }, [screen, hasCall])
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
