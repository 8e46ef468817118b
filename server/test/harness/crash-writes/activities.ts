import { Contradiction, type Outcome } from './shelf.ts'

export interface Activity {
  readonly id: number
  readonly trace: string
  readonly operation: string
}

/** A write that leaves a record: under which trace, and of what. */
export interface Recorded {
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
  /** By trace, under which a dialog has several. */
  readonly #sent = new Map<string, Sent[]>()
  #last = 0

  send({ trace, operation }: Recorded): void {
    const sent = { operation, isAcknowledged: false, isRecorded: false }
    const others = this.#sent.get(trace)
    if (others) others.push(sent)
    else this.#sent.set(trace, [sent])
  }

  #find({ trace, operation }: Recorded): Sent | undefined {
    return this.#sent.get(trace)?.find((sent) => sent.operation === operation)
  }

  acknowledge(recorded: Recorded): void {
    const sent = this.#find(recorded)
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
      const ofTrace = this.#sent.get(trace)
      if (!ofTrace) throw new Contradiction(`an activity records ${operation}, which nobody sent`)
      const sent = this.#find({ trace, operation })
      if (!sent) {
        const others = ofTrace.map((other) => other.operation)
        throw new Contradiction(`an activity records ${operation}, but ${others} was sent`)
      }
      if (sent.isRecorded) throw new Contradiction(`two activities record the same ${operation}`)
      sent.isRecorded = true
      this.#last = Math.max(this.#last, id)
    }
    for (const { operation, isAcknowledged, isRecorded } of [...this.#sent.values()].flat()) {
      if (isAcknowledged && !isRecorded)
        throw new Contradiction(`no activity records ${operation}, which was acknowledged`)
    }
  }

  /** A change is there if and only if its record is. */
  confirm(what: string, recorded: Recorded | undefined, outcome: Outcome): void {
    const sent = recorded && this.#find(recorded)
    if (!sent || sent.isRecorded === (outcome === 'happened')) return
    const record = sent.isRecorded ? 'there is a record of it' : 'there is no record of it'
    throw new Contradiction(`${what} by ${sent.operation} ${outcome}, but ${record}`)
  }

  /** What was judged and confirmed is not needed any more. */
  forget(): void {
    this.#sent.clear()
  }
}
