import { Contradiction, type Outcome } from './shelf.ts'

export interface Activity {
  readonly id: number
  readonly trace: string
  readonly operation: string
}

interface Sent {
  readonly operation: string
  isAcknowledged: boolean
  isRecorded: boolean
}

/** The records of who did what: one for every write that was acknowledged, and none for what did not happen. */
export class Activities {
  readonly #sent = new Map<string, Sent>()
  #last = 0

  send(trace: string, operation: string): void {
    this.#sent.set(trace, { operation, isAcknowledged: false, isRecorded: false })
  }

  acknowledge(trace: string): void {
    const sent = this.#sent.get(trace)
    if (!sent) throw new Error('a write was acknowledged that was never sent')
    sent.isAcknowledged = true
  }

  /** The newest record that was judged. */
  get last(): number {
    return this.#last
  }

  /** Judges the records that came after `last`, all of them. */
  judge(newer: readonly Activity[]): void {
    for (const { id, trace, operation } of newer) {
      const sent = this.#sent.get(trace)
      if (!sent) throw new Contradiction(`an activity tells of ${operation}, which nobody sent`)
      if (sent.isRecorded) throw new Contradiction(`two activities tell of the same ${operation}`)
      if (sent.operation !== operation) {
        throw new Contradiction(`an activity tells of ${operation}, but ${sent.operation} was sent`)
      }
      sent.isRecorded = true
      this.#last = Math.max(this.#last, id)
    }
    for (const { operation, isAcknowledged, isRecorded } of this.#sent.values()) {
      if (isAcknowledged && !isRecorded)
        throw new Contradiction(`no activity tells of ${operation}, which was acknowledged`)
    }
  }

  /** A change is there if and only if its record is. */
  confirm(what: string, trace: string | undefined, outcome: Outcome): void {
    const sent = trace === undefined ? undefined : this.#sent.get(trace)
    if (!sent || sent.isRecorded === (outcome === 'happened')) return
    const record = sent.isRecorded ? 'there is a record of it' : 'there is no record of it'
    throw new Contradiction(`${what} by ${sent.operation} ${outcome}, but ${record}`)
  }

  /** What was judged and confirmed is not needed any more. */
  forget(): void {
    this.#sent.clear()
  }
}
