import type { Lane } from '../../data/types.ts'
import { writeSpan } from '../../ui/times.ts'

export interface Health {
  readonly tone: 'good' | 'bad' | 'warn' | 'plain'
  readonly word: 'Healthy' | 'Catching up' | 'Failing' | 'Down' | 'Paused' | 'Not subscribed any more'
  /** What the word means for the webhooks of the subscriber; empty when all is well. */
  readonly meaning: string
}

type Judged = Pick<Lane, 'failures' | 'down' | 'paused_by_operator' | 'subscribed' | 'waiting' | 'oldest_age'>

/** A webhook that waits for longer, in seconds, waits for more than its turn. */
const shortWait = 30

/** How a subscriber fares, in a word and what the word means. */
export function judgeHealth(lane: Judged): Health {
  const { failures, down, paused_by_operator: isPaused, subscribed, waiting, oldest_age } = lane
  // What waits at a former address is still attempted there.
  if (!subscribed && waiting === 0) {
    const meaning = 'No event goes there: the app has another callback, or is linked to no account.'
    return { tone: 'plain', word: 'Not subscribed any more', meaning }
  }
  const row = failures === 1 ? 'The last attempt failed' : `${failures} attempts failed in a row`
  if (isPaused) {
    return { tone: 'warn', word: 'Paused', meaning: 'An operator paused it: its webhooks wait until it is resumed.' }
  }
  if (down) {
    const meaning = `${row}. Only one webhook at a time is attempted, until one is accepted; all others wait.`
    return { tone: 'bad', word: 'Down', meaning }
  }
  if (failures > 0) {
    const meaning = `${row}. Each webhook is retried with exponential backoff; later ones of its conversation wait.`
    return { tone: 'bad', word: 'Failing', meaning }
  }
  // A subscriber that was just resumed has no failure any more, and has yet to take something.
  if (waiting > 0 && (oldest_age ?? 0) > shortWait) {
    const meaning = 'The last attempt did not fail, but older webhooks still wait for their next attempt.'
    return { tone: 'warn', word: 'Catching up', meaning }
  }
  return { tone: 'good', word: 'Healthy', meaning: '' }
}

/** What waits for a subscriber, for how long, and whether at an address to which no new event goes. */
export function writeWaiting(lane: Pick<Lane, 'waiting' | 'oldest_age' | 'subscribed'>): string {
  if (lane.waiting === 0) return 'No webhook waits.'
  const oldest = `the oldest for ${writeSpan((lane.oldest_age ?? 0) * 1000)}`
  const where = lane.subscribed ? '' : " at an address that is not the app's callback now"
  return `${countWaiting(lane.waiting)}${where}, ${oldest}.`
}

function countWaiting(waiting: number): string {
  return waiting === 1 ? '1 webhook waits' : `${waiting.toLocaleString()} webhooks wait`
}

/** Whether its last attempts failed: also that of one that was paused since. */
export function hasFailed({ failures, down }: Pick<Lane, 'failures' | 'down'>): boolean {
  return down || failures > 0
}

const order: readonly Health['word'][] = [
  'Down',
  'Failing',
  'Paused',
  'Catching up',
  'Healthy',
  'Not subscribed any more',
]

/** Those that need somebody first, and last those to which no event goes any more. */
export function sortLanes(lanes: readonly Lane[]): Lane[] {
  const rank = (lane: Lane) => order.indexOf(judgeHealth(lane).word)
  return lanes.toSorted((one, other) => rank(one) - rank(other) || other.waiting - one.waiting)
}
