/**
 * What becomes of a lane in the process that holds it. `working`: it is read, sent and stored. `stuck`: somebody else has locked its
 * rows, so that what came of its posts cannot be stored. `leaving`: it is being released. `lost`: it is not ours any more, and posts
 * of it are still under way. `ended`: nothing of it is left here.
 */
const lanePhases = ['working', 'stuck', 'leaving', 'lost', 'ended'] as const
export type LanePhase = (typeof lanePhases)[number]

/** What can happen to a lane. */
const laneEvents = ['locked', 'stored', 'leave', 'kept', 'released', 'taken_over', 'posts_ended'] as const
export type LaneEvent = (typeof laneEvents)[number]

interface Move {
  readonly on: LaneEvent
  readonly from: readonly LanePhase[]
  readonly to: LanePhase
  readonly because: string
}

/** THE TABLE: what happens to a lane in which phase, and the result. */
const moves: readonly Move[] = [
  {
    on: 'locked',
    from: ['working', 'stuck'],
    to: 'stuck',
    because: 'what cannot be stored must not pile up: nothing is sent until it is stored, and the other lanes go on',
  },
  { on: 'stored', from: ['working', 'stuck'], to: 'working', because: 'the store has taken what it had to take' },
  { on: 'leave', from: ['working'], to: 'leaving', because: 'nothing may be read or sent while the store releases it' },
  { on: 'kept', from: ['leaving'], to: 'working', because: 'an event is being raised for it, or the release failed' },
  { on: 'released', from: ['leaving'], to: 'ended', because: 'nothing was under way, or it would not have left' },
  {
    on: 'taken_over',
    from: ['working', 'stuck', 'leaving'],
    to: 'lost',
    because: 'another process holds it, the store was replaced, or it broke: what came of its posts counts no more',
  },
  { on: 'posts_ended', from: ['lost'], to: 'ended', because: 'only now may this process claim it again' },
]

/** Answers of the store to what was asked before the lane was lost: they change nothing. */
const late: readonly LaneEvent[] = ['locked', 'stored', 'kept', 'released', 'taken_over']

/** The phase of a lane after an event; throws where the event is impossible. */
export function moveLane(phase: LanePhase, event: LaneEvent): LanePhase {
  const move = moves.find(({ on, from }) => on === event && from.includes(phase))
  if (move) return move.to
  if ((phase === 'lost' || phase === 'ended') && late.includes(event)) return phase
  throw new Error(`a lane that is ${phase} cannot be ${event}`)
}
