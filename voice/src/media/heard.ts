import type { HeardSound } from '../sound/loudest-second.ts'

/** What was heard in a call. */
export interface Heard extends HeardSound {
  readonly packets: number
  readonly lost: number
}
