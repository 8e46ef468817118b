import type { PushTarget } from './push-event.ts'
import type { Listening, Opening } from './types.ts'

/** Who has not read so much of what was sent before is dropped, and may come back with the last id. */
const maxWaitingBytes = 4 << 20

/** One open stream. */
export class Listener<About> {
  readonly #target: PushTarget
  readonly opening: Opening<About>
  listening: Listening<About>
  /** What it has received, or does not ask for, ends here. */
  after: number

  constructor(target: PushTarget, listening: Listening<About>, opening: Opening<About>, after: number) {
    this.#target = target
    this.listening = listening
    this.opening = opening
    this.after = after
  }

  get isClosed(): boolean {
    return this.#target.isClosed
  }

  write(text: string | Uint8Array): void {
    if (text.length === 0 || this.#target.isClosed) return
    if (this.#target.waitingBytes > maxWaitingBytes) this.#target.cut()
    else this.#target.write(text)
  }

  comment(): void {
    this.write(':\n\n')
  }

  reset(id: string | number | undefined): void {
    this.write(`${id === undefined ? '' : `id: ${id}\n`}event: reset\ndata: {}\n\n`)
  }

  /** Resolves when what was written is on its way. */
  drained(): Promise<void> {
    return this.#target.drained()
  }

  end(): void {
    this.#target.end()
  }
}
