import type { Lane } from '../../data/types.ts'
import { judgeHealth, sortLanes } from './health.ts'

/** If there are more, healthy ones are folded. */
const mostShown = 6

export type Place = 'shown' | 'healthy' | 'former'

/**
 * Where each card stands, in order: unhealthy ones first. One that is shown keeps its place whatever becomes of it, so that no other
 * button comes to be under the mouse; what is new, or is folded and needs somebody now, is added at the end.
 */
export function placeLanes(lanes: readonly Lane[], before: ReadonlyMap<string, Place>): Map<string, Place> {
  const ids = new Set(lanes.map(({ id }) => id))
  const places = new Map([...before].filter(([id]) => ids.has(id)))
  const isFew = lanes.filter((lane) => judgeHealth(lane).tone !== 'plain').length <= mostShown
  for (const lane of sortLanes(lanes)) {
    const place = places.get(lane.id)
    const wanted = choosePlace(lane, isFew)
    if (place === 'shown' || place === wanted) continue
    places.delete(lane.id)
    places.set(lane.id, wanted)
  }
  return places
}

function choosePlace(lane: Lane, isFew: boolean): Place {
  const { tone } = judgeHealth(lane)
  if (tone === 'plain') return 'former'
  return tone === 'good' && !isFew ? 'healthy' : 'shown'
}
