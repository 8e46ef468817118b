import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { numbers } from '../../../data/directory.ts'
import { serviceNow } from '../../../data/live.ts'
import type { Message } from '../../../data/messages.ts'
import type { Chat, WrittenContent } from '../../../data/phone/chat.ts'
import type { ChatState } from '../../../data/phone/chat-state.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { useLatest } from '../../../ui/hooks.ts'
import { Menu } from '../../../ui/menu.tsx'
import { IconButton } from '../../../ui/parts.tsx'
import { Avatar } from '../avatar.tsx'
import { startCall } from '../call/calls-here.ts'
import { ChatSheet } from '../sheets/chat-sheet.tsx'
import { nameChat } from '../summarize.ts'
import { Compose } from './compose.tsx'
import { MessageList } from './message-list.tsx'
import './chat-view.css'

/** An open chat. */
export function ChatView({ phone, chat }: { readonly phone: Phone; readonly chat: ChatState }) {
  const replyTo = useSignal<Message | undefined>(undefined)
  const section = useRef<HTMLElement>(null)
  const { key } = chat
  const listed = phone.store.findChat(key)
  const number = numbers.value.find(({ id }) => id === key.phone_number_id)
  const title = listed ? nameChat(listed) : number?.verified_name || number?.display_phone_number || key.phone_number_id
  const isGroup = key.group_id !== undefined
  // What is scrolled out of the page is not read.
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      chat.isOnScreen.value = entry?.isIntersecting === true
    })
    if (section.current) observer.observe(section.current)
    return () => {
      observer.disconnect()
      chat.isOnScreen.value = false
    }
  }, [chat])
  const reply = useLatest((message: Message) => {
    replyTo.value = message
  })
  const send = (content: WrittenContent) => {
    const context = replyTo.value && { context: { id: replyTo.value.id } }
    replyTo.value = undefined
    void phone.write(key, { ...content, ...context })
  }
  return (
    <section
      class="chat"
      ref={section}
      aria-label={`Chat with ${title}`}
      onKeyDown={(event) => {
        // A menu that is open closes by the same key, and nothing else with it.
        if (event.key !== 'Escape' || event.currentTarget.querySelector(':popover-open')) return
        if (replyTo.value) replyTo.value = undefined
        else void phone.openChat(undefined)
      }}
    >
      <header class="chat-head">
        <IconButton icon="back" label="Back to the chats" onClick={() => void phone.openChat(undefined)} />
        <button
          type="button"
          class="chat-title"
          title={isGroup ? 'Group info' : 'Business info'}
          onClick={() => {
            chat.sheet.value = { kind: 'about' }
          }}
        >
          <Avatar name={title} isGroup={isGroup} />
          <span class="chat-name">
            <b dir="auto">{title}</b>
            <span class="soft">{describe(phone, chat, listed)}</span>
          </span>
        </button>
        {!isGroup && (
          <>
            <IconButton icon="calls" label={`Call ${title}`} onClick={() => void startCall(phone, key)} />
            <ChatMenu phone={phone} chat={chat} listed={listed} />
          </>
        )}
      </header>
      <WindowRibbon listed={listed} isGroup={isGroup} />
      <MessageList phone={phone} chat={chat} onReply={reply} />
      {listed?.blocked ? (
        <p class="blocked-bar">
          <span>You blocked this business.</span>
          <button type="button" class="small" onClick={() => void phone.setChat(key, { blocked: false })}>
            Unblock
          </button>
        </p>
      ) : (
        <Compose phone={phone} chat={chat} replyTo={replyTo} onSend={send} />
      )}
      <ChatSheet phone={phone} chat={chat} onSend={send} />
    </section>
  )
}

function describe(phone: Phone, { key }: ChatState, listed: Chat | undefined): string {
  if (key.group_id !== undefined) return `Group of ${listed?.verified_name ?? ''}`
  return phone.store.typing.value.has(key.phone_number_id) ? 'typing…' : 'Business account'
}

/** What a developer wants to know and a user does not see: whether the business may write freely. */
function WindowRibbon({ listed, isGroup }: { readonly listed: Chat | undefined; readonly isGroup: boolean }) {
  const title = 'For developers: within 24 hours of the last message of the user a business may write freely.'
  if (isGroup) return null
  return (
    <p class="ribbon" title={title}>
      {writeWindow(listed)}
    </p>
  )
}

function writeWindow(listed: Chat | undefined): string {
  const left = Number(listed?.window_expires_at ?? 0) * 1000 - serviceNow()
  if (left <= 0) return 'Window closed'
  const minutes = Math.round(left / 60_000)
  return `Window open, ${minutes >= 60 ? `${Math.floor(minutes / 60)} h` : `${minutes} min`} left`
}

interface ChatMenuProps {
  readonly phone: Phone
  readonly chat: ChatState
  readonly listed: Chat | undefined
}

function ChatMenu({ phone, chat: { key }, listed }: ChatMenuProps) {
  const isStopped = listed?.marketing === 'stop'
  return (
    <Menu
      label="More"
      icon="more"
      items={[
        {
          label: listed?.blocked ? 'Unblock this business' : 'Block this business',
          onSelect: () => void phone.setChat(key, { blocked: !listed?.blocked }),
        },
        {
          label: isStopped ? 'Resume marketing messages' : 'Stop marketing messages',
          onSelect: () => void phone.setChat(key, { marketing: isStopped ? 'resume' : 'stop' }),
        },
      ]}
    />
  )
}
