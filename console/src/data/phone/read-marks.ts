import { effect, signal } from '@preact/signals'
import { isSeen, isUnread } from './arrival.ts'
import { actOnMessage } from './gateway.ts'
import type { PhoneStore } from './phone-store.ts'

/** Whether the page with the phones is open. */
export const isPhonePageOpen = signal(false)

const isHidden = signal(document.hidden)
document.addEventListener('visibilitychange', () => {
  isHidden.value = document.hidden
})

/** Whoever looks at a chat has read it, as on a real phone: reports that as soon as all that covers the chat is gone. */
export function startReading(store: PhoneStore): () => void {
  const reported = new Set<string>()
  return effect(() => {
    const chat = store.chat.value
    if (!chat?.isLoaded.value) return
    const view = {
      isPageOpen: isPhonePageOpen.value,
      isHidden: isHidden.value,
      isOnScreen: chat.isOnScreen.value,
      hasCall: store.call.value !== undefined,
      isOnline: store.isOnline,
    }
    if (!isSeen(view)) return
    for (const message of chat.messages.value) {
      if (reported.has(message.id) || !isUnread(message, store.wa_id)) continue
      reported.add(message.id)
      void actOnMessage(store.wa_id, message, 'read').catch(() => reported.delete(message.id))
    }
  })
}
