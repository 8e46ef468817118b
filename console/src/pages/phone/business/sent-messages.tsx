import { useSignal } from '@preact/signals'
import { operatorWhy } from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import { client } from '../../../data/http.ts'
import type { Message } from '../../../data/messages.ts'
import { SentFeed } from '../../../data/phone/sent-feed.ts'
import { Ticks } from '../../../ui/icons.tsx'
import { useLoaded } from '../../../ui/load/loaded.tsx'
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
  const hasFailed = message.state === 'failed'
  return (
    <li>
      <Ticks state={message.state} />
      <span class="sent-text" dir="auto">
        {summarize(message)}
      </span>
      <span class="soft">{writeChatTime(message.timestamp)}</span>
      {hasFailed ? <Failure id={message.id} /> : <span class="soft sent-state">{words[message.state]}</span>}
    </li>
  )
}

/** Why a message did not reach its user, as the service says it. */
function Failure({ id }: { readonly id: string }) {
  const { value } = useLoaded(id, () => operatorWhy(client, id)).load
  return <span class="bad sent-state">{value.state === 'ready' ? value.value.sentence : 'Not delivered.'}</span>
}
