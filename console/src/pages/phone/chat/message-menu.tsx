import { useRef } from 'preact/hooks'
import type { Message } from '../../../data/messages.ts'
import type { ChatState } from '../../../data/phone/chat-state.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { Icon, type IconName } from '../../../ui/icons.tsx'
import { say } from '../../../ui/toast.tsx'
import { findText } from '../summarize.ts'
import { bubbleId } from './bubble.tsx'
import './message-menu.css'

const emojis = ['👍', '❤️', '😂', '😮', '😢', '🙏']

interface Props {
  readonly id: string
  readonly phone: Phone
  readonly chat: ChatState
  readonly message: Message | undefined
  readonly onReply: (message: Message) => void
}

/** The one menu of all messages of a chat: the button that opens it says of which. */
export function MessageMenu({ id, phone, chat, message, onReply }: Props) {
  const list = useRef<HTMLDivElement>(null)
  const entries = () => [...(list.current?.querySelectorAll('button') ?? [])]
  const select = (act: (message: Message) => void) => () => {
    list.current?.hidePopover()
    if (message) act(message)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const all = entries()
    const at = all.indexOf(document.activeElement as HTMLButtonElement)
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      all[(at + step + all.length) % all.length]?.focus()
    }
    if (event.key !== 'Escape') return
    // Escape closes the menu, and neither the chat nor what is written.
    event.stopPropagation()
    event.preventDefault()
    list.current?.hidePopover()
    if (message) document.getElementById(bubbleId(phone.wa_id, message.id))?.focus()
  }
  const react = (emoji: string) =>
    select(({ id: message_id }) => {
      void phone.write(chat.key, { type: 'reaction', reaction: { message_id, emoji } })
    })
  const isMine = message?.direction === 'to_business' && message.from === phone.wa_id
  return (
    <div
      id={id}
      ref={list}
      popover="auto"
      role="menu"
      tabIndex={-1}
      aria-label="Message menu"
      class="menu message-menu"
      onKeyDown={onKeyDown}
      onToggle={(event) => {
        if (event.newState === 'open') entries()[0]?.focus()
      }}
    >
      <div class="emojis">
        {emojis.map((emoji) => (
          <button
            type="button"
            role="menuitem"
            tabIndex={-1}
            key={emoji}
            aria-label={`React ${emoji}`}
            onClick={react(emoji)}
          >
            {emoji}
          </button>
        ))}
      </div>
      {message && chat.reactions.value.get(message.id) && (
        <Item icon="close" label="Remove the reaction" onSelect={react('')} />
      )}
      <Item icon="reply" label="Reply" onSelect={select(onReply)} />
      <Item icon="copy" label="Copy" onSelect={select((one) => void copyText(one))} />
      <Item
        icon="info"
        label="Info"
        onSelect={select((one) => {
          chat.sheet.value = { kind: 'info', message: one }
        })}
      />
      {isMine && message.state !== 'deleted' && !chat.unsent.value.has(message.id) && (
        <Item icon="close" label="Delete" onSelect={select((one) => void phone.act(one, 'delete'))} />
      )}
    </div>
  )
}

async function copyText(message: Message): Promise<void> {
  await navigator.clipboard.writeText(findText(message))
  say('The text is copied.')
}

function Item(props: { readonly icon: IconName; readonly label: string; readonly onSelect: () => void }) {
  return (
    <button type="button" role="menuitem" tabIndex={-1} onClick={props.onSelect}>
      <Icon name={props.icon} />
      {props.label}
    </button>
  )
}
