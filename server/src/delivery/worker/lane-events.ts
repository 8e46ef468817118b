import type { RaisedDeliveries } from '../../db/database.ts'
import type { Outcome } from '../rules/outcome.ts'
import type { Lane } from '../store/lanes.ts'
import type { Claim } from './concurrency-limits.ts'
import type { HeldLane } from './held-lane.ts'

/** What claimer, reader, sender and recorder report to the worker, which alone decides what is done next. */
export type WorkerEvent =
  /** There are new deliveries for a lane that is held here; `raised`: this process has just raised them. */
  | { readonly kind: 'news'; readonly lane: HeldLane; readonly raised?: RaisedDeliveries | undefined }
  | { readonly kind: 'claimed'; readonly lane: Lane; readonly claim: Claim; readonly leasedUntil: number }
  /** These lanes have new deliveries, and another process holds them. */
  | { readonly kind: 'held_elsewhere'; readonly ids: readonly string[] }
  /** A read has ended, well or not. */
  | { readonly kind: 'read'; readonly lane: HeldLane }
  | { readonly kind: 'posted'; readonly lane: HeldLane; readonly outcomes: readonly Outcome[] }
  /** A post has ended, however it ended: another may begin. */
  | { readonly kind: 'turn_over'; readonly lane: HeldLane }
  /** Another delivery of the conversations of a post may go first. */
  | { readonly kind: 'overtaken'; readonly lane: HeldLane }
  /** What was to be stored is stored, or a lease was renewed; `isBack`: the subscriber has recovered. */
  | { readonly kind: 'confirmed'; readonly lane: HeldLane; readonly isBack: boolean }
  /** The lane was released, with the time of its next work. */
  | { readonly kind: 'released'; readonly lane: HeldLane; readonly next_due: number | null }
  /** The lane is not ours any more, or can no longer be worked on. */
  | { readonly kind: 'taken_over'; readonly lane: HeldLane }
  | { readonly kind: 'failed'; readonly error: Error; readonly message: string; readonly lane?: HeldLane }

export type Emit = (event: WorkerEvent) => void
