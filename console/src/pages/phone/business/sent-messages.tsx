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
  delivered: 'Delivered',
  read: 'Read',
  played: 'Played',
}

/** How long a message may take to its phone before somebody wants to know why. */
const usualMs = 1000

function SentLine({ message }: { readonly message: Message }) {
  const { id, state, timestamp } = message
  return (
    <li>
      <Ticks state={state} />
      <span class="sent-text" dir="auto">
        {summarize(message)}
      </span>
      <span class="soft">{writeChatTime(timestamp)}</span>
      {state === 'failed' && <Reason id={id} tone="bad" meanwhile="Not delivered." />}
      {state === 'sent' && <LateReason id={id} />}
      {state !== 'failed' && state !== 'sent' && <span class="soft sent-state">{words[state]}</span>}
    </li>
  )
}

interface ReasonProps {
  readonly id: string
  readonly tone: 'bad' | 'soft'
  /** What is said until the reason is known. */
  readonly meanwhile: string
}

/** Why a message is not on its phone, as the service says it. */
function Reason({ id, tone, meanwhile }: ReasonProps) {
  const { value } = useLoaded(id, () => operatorWhy(client, id)).load
  return <span class={`${tone} sent-state`}>{value.state === 'ready' ? value.value.sentence : meanwhile}</span>
}

/** The same of one that may still arrive: asked for only when that takes long. */
function LateReason({ id }: { readonly id: string }) {
  const isLate = useSignal(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      isLate.value = true
    }, usualMs)
    return () => clearTimeout(timer)
  }, [isLate])
  if (!isLate.value) return <span class="soft sent-state">Sent</span>
  return <Reason id={id} tone="soft" meanwhile="Sent" />
}
