import type { Listener } from './listener.ts'
import type { Listening, StreamEvent } from './types.ts'

/** Listeners who receive the same. */
interface Circle<About> {
  readonly listening: Listening<About>
  readonly listeners: Set<Listener<About>>
}

/**
 * Who receives events as they come. An event is compared only with what was asked of its topics, once for all who asked for the same; it
 * is written once, whoever receives it, and each listener gets all of a batch at once.
 */
export class Audience<About> {
  /** By topic, then by what was asked for. */
  readonly #circles = new Map<string, Map<string, Circle<About>>>()

  add(listener: Listener<About>): void {
    const { listening } = listener
    const ofTopic = this.#circles.get(listening.topic) ?? new Map<string, Circle<About>>()
    this.#circles.set(listening.topic, ofTopic)
    const circle = ofTopic.get(listening.key) ?? { listening, listeners: new Set() }
    ofTopic.set(listening.key, circle)
    circle.listeners.add(listener)
  }

  /** Returns whether it was there. */
  remove(listener: Listener<About>): boolean {
    const { topic, key } = listener.listening
    const ofTopic = this.#circles.get(topic)
    const circle = ofTopic?.get(key)
    if (!ofTopic || !circle?.listeners.delete(listener)) return false
    if (circle.listeners.size === 0) ofTopic.delete(key)
    if (ofTopic.size === 0) this.#circles.delete(topic)
    return true
  }

  send(events: readonly StreamEvent<About>[]): void {
    const byCircle = new Map<Circle<About>, StreamEvent<About>[]>()
    for (const event of events) {
      for (const topic of event.topics) {
        for (const circle of this.#circles.get(topic)?.values() ?? []) {
          if (!circle.listening.matches(event.about)) continue
          const before = byCircle.get(circle)
          if (before) before.push(event)
          else byCircle.set(circle, [event])
        }
      }
    }
    const write = makeWriter()
    for (const [{ listeners }, ofCircle] of byCircle) {
      const first = ofCircle.find(({ isLate }) => !isLate)?.position ?? Number.POSITIVE_INFINITY
      const whole = write(ofCircle)
      // Whoever receives the same gets the same bytes.
      const shared = listeners.size > 1 ? Buffer.from(whole) : whole
      for (const listener of listeners) {
        if (listener.after < first) listener.write(shared)
        else listener.write(write(ofCircle.filter(({ isLate, position }) => isLate || position > listener.after)))
      }
    }
  }
}

/** Writes events that follow a position for one listener. */
export function writeFor<About>({ listening, after }: Listener<About>, events: readonly StreamEvent<About>[]): string {
  return makeWriter()(events.filter(({ about, position }) => position > after && listening.matches(about)))
}

/** Writes Server-Sent Events, each one once. */
function makeWriter(): (events: readonly StreamEvent<unknown>[]) => string {
  const texts = new Map<StreamEvent<unknown>, string>()
  return (events) => {
    let all = ''
    for (const event of events) {
      let text = texts.get(event)
      if (text === undefined) {
        // JSON has no line breaks, so one line holds it.
        text = `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event.show())}\n\n`
        texts.set(event, text)
      }
      all += text
    }
    return all
  }
}
