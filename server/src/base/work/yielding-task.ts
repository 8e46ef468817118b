import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long a task may hold the event loop: a small part of a delay that a request would notice. */
const maxHoldMilliseconds = 10

/** A task that may take long: it yields when it has held the event loop for a while. */
export class YieldingTask {
  #began = performance.now()

  async yieldIfDue(): Promise<void> {
    if (performance.now() - this.#began >= maxHoldMilliseconds) await this.yield()
  }

  async yield(): Promise<void> {
    await nextTurn()
    this.#began = performance.now()
  }
}
