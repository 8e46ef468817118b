import { useSignal } from '@preact/signals'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import type { Message } from '../../../data/messages.ts'
import type { ChatState } from '../../../data/phone/chat-state.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { useLatest } from '../../../ui/hooks.ts'
import { Icon } from '../../../ui/icons.tsx'
import { writeChatDay } from '../chat-time.ts'
import { memo } from '../memo.ts'
import { Bubble, bubbleId } from './bubble.tsx'
import { MessageMenu } from './message-menu.tsx'
import { extendDown, extendUp, followRange, type Range, rangeAround, rangeAtEnd } from './message-range.ts'
import { keepPlace, type Place, readPlace, restorePlace, takePlace } from './scroll-place.ts'
import './message-list.css'

interface Props {
  readonly phone: Phone
  readonly chat: ChatState
  readonly onReply: (message: Message) => void
}

/** The messages of a chat: those near what is read are drawn, and what is read stays where it is, whatever comes or loads. */
export const MessageList = memo(MessageListView)

function MessageListView({ phone, chat, onReply }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const place = useRef<Place>(readPlace(phone.wa_id, chat.key))
  const isAtEnd = useSignal(place.current === 'end')
  const menuOf = useSignal<Message | undefined>(undefined)
  const messages = chat.shown.value
  const { range, setRange } = useRange(messages)
  const lastSeen = useRef<string>(undefined)
  const menu = useId()

  const restore = useLatest(() => {
    if (box.current) restorePlace(box.current, phone.wa_id, place.current)
  })
  // Not with every drawing: while one scrolls, the page knows only later where one is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: these say that something came or went.
  useLayoutEffect(restore, [messages, range.from, range.to, restore])
  useEffect(() => {
    const observer = new ResizeObserver(restore)
    for (const element of [box.current, content.current]) if (element) observer.observe(element)
    return () => observer.disconnect()
  }, [restore])
  const note = useLatest(() => {
    if (!box.current || messages.length === 0) return
    place.current = takePlace(box.current, range.to === messages.length)
    isAtEnd.value = place.current === 'end'
    keepPlace(phone.wa_id, chat.key, place.current)
  })

  const goToEnd = useLatest(() => {
    place.current = 'end'
    isAtEnd.value = true
    setRange(rangeAtEnd(messages.length))
    restore()
  })
  const jump = useLatest(async (id: string) => {
    await phone.store.attempt(() => phone.feed.readBackTo(chat, id))
    const index = chat.shown.value.findIndex((message) => message.id === id)
    if (index < 0) return
    setRange(rangeAround(index, chat.shown.value.length))
    place.current = { id, offset: (box.current?.clientHeight ?? 300) / 3 }
    isAtEnd.value = false
    requestAnimationFrame(() => point(bubbleId(phone.wa_id, id)))
  })
  const openMenu = useLatest((message: Message) => {
    menuOf.value = message
  })
  // Back in a chat that one left further up.
  const isLoaded = chat.isLoaded.value
  const returnToPlace = useLatest(async () => {
    const kept = place.current
    if (kept === 'end') return
    await phone.store.attempt(() => phone.feed.readBackTo(chat, kept.id))
    const index = chat.shown.value.findIndex(({ id }) => id === kept.id)
    if (index < 0) goToEnd()
    else setRange(rangeAround(index, chat.shown.value.length))
    if (index >= 0) place.current = kept
    restore()
  })
  useEffect(() => {
    if (isLoaded) void returnToPlace()
  }, [isLoaded, returnToPlace])
  // One's own message is seen at once, wherever one was.
  const newest = messages.at(-1)
  const written = newest && chat.unsent.value.has(newest.id) ? newest.id : undefined
  useLayoutEffect(() => {
    if (written !== undefined) goToEnd()
  }, [written, goToEnd])

  if (isAtEnd.value) lastSeen.current = newest?.id
  const below = isAtEnd.value ? 0 : countNew(messages, lastSeen.current)
  const canReadOlder = chat.older.value !== undefined
  return (
    <div class="message-place">
      <div
        class="messages"
        ref={box}
        role="log"
        aria-label="Messages"
        aria-busy={!chat.isLoaded.value}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard, and arrows move in it.
        tabIndex={0}
        onScroll={note}
        onKeyDown={(event) => moveFocus(event, event.currentTarget)}
      >
        <div class="message-lines" ref={content}>
          {(range.from > 0 || canReadOlder) && (
            <Edge
              root={box}
              at={`${range.from} ${messages[range.from]?.id ?? ''} ${messages.length}`}
              label={range.from === 0 ? 'Loading older messages…' : ''}
              onNear={() => {
                if (range.from > 0) setRange(extendUp(range))
                else void phone.store.attempt(() => phone.feed.readOlder(chat))
              }}
            />
          )}
          {chat.isLoaded.value && messages.length === 0 && !canReadOlder && <p class="day">No message yet</p>}
          {groupByDay(messages.slice(range.from, range.to)).map(([day, lines]) => (
            <section key={day} class="day-group">
              <p class="day">{writeChatDay(lines[0]?.timestamp ?? 0)}</p>
              {lines.map((message) => (
                <div key={message.id} class="line">
                  {message.id === chat.unreadStart.value?.id && (
                    <p class="unread-line">{writeUnread(chat.unreadStart.value.count)}</p>
                  )}
                  <Bubble
                    phone={phone}
                    message={message}
                    quoted={message.replied_id === undefined ? undefined : chat.byId.value.get(message.replied_id)}
                    reactions={chat.reactions.value.get(message.id)}
                    unsent={chat.unsent.value.get(message.id)}
                    menu={menu}
                    onMenu={openMenu}
                    onJump={jump}
                  />
                </div>
              ))}
            </section>
          ))}
          {range.to < messages.length && (
            <Edge
              root={box}
              at={`${range.to} ${messages.length}`}
              label=""
              onNear={() => setRange(extendDown(range, messages.length))}
            />
          )}
          {chat.key.group_id === undefined && phone.store.typing.value.has(chat.key.phone_number_id) && (
            <p class="typing" role="img" aria-label="The business is typing">
              <i />
              <i />
              <i />
            </p>
          )}
        </div>
      </div>
      {!isAtEnd.value && (
        <button type="button" class="to-end" aria-label={writeBelow(below)} title={writeBelow(below)} onClick={goToEnd}>
          <Icon name="down" />
          {below > 0 && `${below} new`}
        </button>
      )}
      <MessageMenu id={menu} phone={phone} chat={chat} message={menuOf.value} onReply={onReply} />
    </div>
  )
}

/** The range that is drawn, which follows the list as it changes. */
function useRange(messages: readonly Message[]) {
  const state = useRef<{ range: Range; count: number; first: string | undefined }>(undefined)
  const drawn = useSignal(0)
  const known = state.current
  const first = known?.first === undefined ? -1 : findFrom(messages, known.first, known.range.from)
  const range = known ? followRange(known.range, first, known.count, messages.length) : rangeAtEnd(messages.length)
  const keep = (next: Range) => {
    state.current = { range: next, count: messages.length, first: messages[next.from]?.id }
  }
  keep(range)
  const setRange = useLatest((next: Range) => {
    keep(next)
    drawn.value += 1
  })
  void drawn.value
  return { range, setRange }
}

/** Where a message is now: mostly where it was. */
function findFrom(messages: readonly Message[], id: string, likely: number): number {
  return messages[likely]?.id === id ? likely : messages.findIndex((message) => message.id === id)
}

interface EdgeProps {
  readonly root: { readonly current: HTMLElement | null }
  /** Changes with what is beside the edge: then it may be near again. */
  readonly at: string
  readonly label: string
  readonly onNear: () => void
}

/** Where the messages that are drawn end: coming near it brings more. */
function Edge({ root, at, label, onNear }: EdgeProps) {
  const element = useRef<HTMLParagraphElement>(null)
  const near = useLatest(onNear)
  // biome-ignore lint/correctness/useExhaustiveDependencies: anew after each step, because an edge that stays in view is not reported again.
  useEffect(() => {
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) near()
      },
      { root: root.current, rootMargin: '500px 0px' },
    )
    if (element.current) observer.observe(element.current)
    return () => observer.disconnect()
  }, [at, root, near])
  return (
    <p class="edge" ref={element}>
      {label}
    </p>
  )
}

function groupByDay(messages: readonly Message[]): readonly (readonly [string, readonly Message[]])[] {
  return [...Map.groupBy(messages, ({ timestamp }) => new Date(timestamp * 1000).toDateString())]
}

/** What came from others since the end was last seen. */
function countNew(messages: readonly Message[], lastSeen: string | undefined): number {
  const index = messages.findLastIndex(({ id }) => id === lastSeen)
  return index < 0 ? 0 : messages.slice(index + 1).filter(({ direction }) => direction === 'to_user').length
}

function writeBelow(count: number): string {
  return count === 0 ? 'Go to the newest message' : `${count} new, go to the newest message`
}

function writeUnread(count: number): string {
  return count === 1 ? '1 unread message' : `${count} unread messages`
}

/** Shows which message is meant, for a moment. */
function point(id: string): void {
  const element = document.getElementById(id)
  element?.focus({ preventScroll: true })
  element?.classList.add('pointed')
  setTimeout(() => element?.classList.remove('pointed'), 1500)
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/** Arrows move from message to message, and Enter opens the menu of one: the list is one stop of the Tab key. */
function moveFocus(event: KeyboardEvent, list: HTMLElement): void {
  const bubbles = [...list.querySelectorAll<HTMLElement>('.bubble')]
  const target = event.target as HTMLElement
  if (target !== list && !target.classList.contains('bubble')) return
  const at = bubbles.indexOf(target)
  const step = steps[event.key]
  if (step !== undefined) {
    event.preventDefault()
    const next = at < 0 ? bubbles.length - 1 : at + step
    bubbles[Math.max(0, Math.min(bubbles.length - 1, next))]?.focus()
  } else if ((event.key === 'Enter' || event.key === 'ContextMenu') && at >= 0) {
    event.preventDefault()
    target.querySelector<HTMLElement>('.bubble-menu')?.click()
  }
}
