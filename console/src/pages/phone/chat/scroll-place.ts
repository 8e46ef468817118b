import { type ChatKey, keyOf } from '../../../data/phone/chat-key.ts'
import { bubbleId } from './bubble.tsx'

/** Where one is in a chat: at its end, or with a message this far below the upper edge. */
export type Place = 'end' | { readonly id: string; readonly offset: number }

/** Closer to the end than this is at the end. */
const nearEnd = 40

/** Brings a list to a place; does nothing when the message is not drawn. */
export function restorePlace(box: HTMLElement, wa_id: string, place: Place): void {
  if (place === 'end') {
    box.scrollTop = box.scrollHeight
    return
  }
  const bubble = document.getElementById(bubbleId(wa_id, place.id))
  if (!bubble) return
  const moved = Math.round(topWithin(box, bubble) - place.offset)
  if (moved !== 0) box.scrollTop += moved
}

/** The place that a list shows: its end, or the first message that can be seen. */
export function takePlace(box: HTMLElement, hasEnd: boolean): Place {
  if (hasEnd && box.scrollHeight - box.scrollTop - box.clientHeight < nearEnd) return 'end'
  const bubbles = box.querySelectorAll<HTMLElement>('.bubble')
  let low = 0
  let high = bubbles.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    const bubble = bubbles[middle]
    if (bubble && topWithin(box, bubble) + bubble.offsetHeight > 0) high = middle
    else low = middle + 1
  }
  const first = bubbles[low]
  if (!first) return 'end'
  return { id: first.id.slice(first.id.indexOf('-', 2) + 1), offset: topWithin(box, first) }
}

function topWithin(box: HTMLElement, element: HTMLElement): number {
  return element.getBoundingClientRect().top - box.getBoundingClientRect().top
}

const storage = (wa_id: string, key: ChatKey) => `switchboard-chat ${wa_id} ${keyOf(key)}`

/** Keeps the place of a chat for this tab, over other pages and a reload. */
export function keepPlace(wa_id: string, key: ChatKey, place: Place): void {
  if (place === 'end') sessionStorage.removeItem(storage(wa_id, key))
  else sessionStorage.setItem(storage(wa_id, key), JSON.stringify(place))
}

export function readPlace(wa_id: string, key: ChatKey): Place {
  try {
    return (JSON.parse(sessionStorage.getItem(storage(wa_id, key)) ?? 'null') as Place | null) ?? 'end'
  } catch {
    return 'end'
  }
}
