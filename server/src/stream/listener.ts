import type { PushTarget } from './push.ts'
import type { Listening, Opening, ToldEvent } from './types.ts'

/** Who has not read so much of what was told before is dropped, and may come back with the last id. */
const maxWaitingBytes = 4 << 20

/** One open stream. */
export class Listener<Told> {
  readonly #target: PushTarget
  readonly #opening: Opening<Told>
  #listening: Listening<Told>
  /** What it has heard, or does not ask for, ends here. */
  after: number

  constructor(target: PushTarget, listening: Listening<Told>, opening: Opening<Told>, after: number) {
    this.#target = target
    this.#listening = listening
    this.#opening = opening
    this.after = after
  }

  get listening(): Listening<Told> {
    return this.#listening
  }

  get isClosed(): boolean {
    return this.#target.isClosed
  }

  /** The text of those events that it asked for. */
  pick(told: readonly ToldEvent<Told>[]): string {
    let text = ''
    for (const { text: one, about } of told) if (this.#listening.matches(about)) text += one
    return text
  }

  /** Tells those events that it asked for and has not heard. */
  take(told: readonly ToldEvent<Told>[]): void {
    const text = this.pick(told.filter(({ position }) => position > this.after))
    if (text !== '') this.write(text)
  }

  write(text: string): void {
    if (this.#target.isClosed) return
    if (this.#target.waitingBytes > maxWaitingBytes) this.#target.cut()
    else this.#target.write(text)
  }

  comment(): void {
    this.write(':\n\n')
  }

  /** Resolves when what was written is on its way. */
  drained(): Promise<void> {
    return this.#target.drained()
  }

  end(): void {
    this.#target.end()
  }

  /** Ends it when its caller may not listen any more; an outage does not end it. */
  async check(): Promise<void> {
    try {
      this.#listening = await this.#opening.admit()
    } catch (error) {
      if (this.#opening.isRefusal(error)) this.end()
    }
  }
}
