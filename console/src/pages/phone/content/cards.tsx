import type { ComponentChildren } from 'preact'
import type { Header as HeaderContent } from '../../../data/message-parts.ts'
import type { Message } from '../../../data/messages.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { Header } from './header.tsx'
import { RichText } from './rich-text.tsx'
import './cards.css'

interface Card {
  readonly header: HeaderContent | undefined
  readonly body: string | undefined
  /** What can be pressed below it. */
  readonly buttons: ComponentChildren
}

interface Props {
  readonly phone: Phone
  readonly message: Message
  readonly cards: readonly Card[]
}

/** Cards beside each other: one stop of the Tab key leads to them, arrows go from one to the next. */
export function Cards({ phone, message, cards }: Props) {
  return (
    <ul
      class="message-cards"
      aria-label={`${cards.length} cards`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard, and arrows move in it.
      tabIndex={0}
      onKeyDown={(event) => moveCard(event, event.currentTarget)}
    >
      {cards.map(({ header, body, buttons }, index) => (
        <li key={index} class="message-card" tabIndex={-1} aria-label={`Card ${index + 1} of ${cards.length}`}>
          {header && <Header phone={phone} header={header} message={message} />}
          {body && <RichText body={body} />}
          {buttons}
        </li>
      ))}
    </ul>
  )
}

function moveCard(event: KeyboardEvent, list: HTMLElement): void {
  const cards = [...list.querySelectorAll<HTMLElement>('.message-card')]
  const target = event.target as HTMLElement
  if (target !== list && !cards.includes(target)) return
  const next = findNext(event.key, cards.indexOf(target), cards.length - 1)
  if (next === undefined) return
  event.preventDefault()
  event.stopPropagation()
  cards[next]?.focus()
}

function findNext(key: string, at: number, last: number): number | undefined {
  switch (key) {
    case 'ArrowRight':
      return Math.min(at + 1, last)
    case 'ArrowLeft':
      return Math.max(at - 1, 0)
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return undefined
  }
}
