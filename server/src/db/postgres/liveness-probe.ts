import type { Socket } from 'node:net'
import type pg from 'pg'
import { DatabaseBusy, DatabaseSilent } from '../database.ts'

/**
 * Distinguishes a database that is gone from one that is busy, for work that waited in vain for a connection. It is busy when something
 * came on one of the connections meanwhile, or when it responds on a connection of the probe's own: those in use may all wait for locks.
 */
export class LivenessProbe {
  readonly #probe: () => Promise<unknown>
  #lastTime = performance.now()
  #probing: Promise<boolean> | undefined

  /** `probe` rejects when the database does not respond in a short time. */
  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe
  }

  /** Listens to a connection that is open. */
  listenTo(client: pg.ClientBase): void {
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    stream.on('data', this.#note)
  }

  /** The error of who waited in vain for so many milliseconds. */
  async classifyTimeout(message: string, milliseconds: number, options?: ErrorOptions): Promise<Error> {
    // It may have gone silent only after the wait began.
    const isSilent = performance.now() - this.#lastTime > milliseconds / 2
    const isBusy = !isSilent || (await this.#responds())
    return isBusy ? new DatabaseBusy('waited', message, options) : new DatabaseSilent(message, options)
  }

  /** Probes once for all who wait for the result. */
  #responds(): Promise<boolean> {
    this.#probing ??= this.#probe()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        this.#probing = undefined
      })
    return this.#probing
  }

  readonly #note = (): void => {
    this.#lastTime = performance.now()
  }
}
