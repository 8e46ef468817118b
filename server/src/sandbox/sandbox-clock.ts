import type { Clock } from '../base/time/clock.ts'

/** The clock of a sandbox: the real one, and by how much somebody moved it. */
export class SandboxClock implements Clock {
  readonly real: Clock
  #offset = 0

  constructor(real: Clock) {
    this.real = real
  }

  now(): number {
    return this.real.now() + this.#offset
  }

  /** Milliseconds ahead of the real clock. */
  get offset(): number {
    return this.#offset
  }

  setOffset(offset: number): void {
    this.#offset = offset
  }

  /** The real time of a time of this clock: what is signed for others goes by their clocks. */
  readonly toReal = (time: number): number => time - this.#offset
}
