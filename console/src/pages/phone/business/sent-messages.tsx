import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Message } from '../../../data/messages.ts'
import { explainFailure } from '../../../data/phone/failure.ts'
import { SentFeed } from '../../../data/phone/sent-feed.ts'
import { Ticks } from '../../../ui/icons.tsx'
import { writeChatTime } from '../chat-time.ts'
import { summarize } from '../summarize.ts'

const shownMessages = 3

/** What the business sent to somebody last, and what became of it: what did not arrive is seen here and not on the phone. */
export function SentMessages({ number, to }: { readonly number: string; readonly to: string }) {
  const messages = useSignal<readonly Message[]>([])
  useEffect(() => {
    if (!/^\d{5,20}$/.test(to)) return undefined
    const feed = new SentFeed(number, to, (all) => {
      messages.value = all
    })
    return () => feed.stop()
  }, [number, to, messages])
  if (messages.value.length === 0) return null
  return (
    <ol class="sent" aria-label="Sent last">
      {messages.value.slice(0, shownMessages).map((message) => (
        <SentLine key={message.id} message={message} />
      ))}
    </ol>
  )
}

const words: Readonly<Record<string, string>> = {
  accepted: 'Accepted',
  sent: 'Sent, not on the phone yet',
  delivered: 'Delivered',
  read: 'Read',
  played: 'Played',
}

function SentLine({ message }: { readonly message: Message }) {
  const failure = explainFailure(message)
  return (
    <li>
      <Ticks state={message.state} />
      <span class="sent-text" dir="auto">
        {summarize(message)}
      </span>
      <span class="soft">{writeChatTime(message.timestamp)}</span>
      <span class={failure === undefined ? 'soft sent-state' : 'bad sent-state'}>
        {failure ?? words[message.state]}
      </span>
    </li>
  )
}
