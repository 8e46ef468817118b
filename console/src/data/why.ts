import { operatorListDeliveries, operatorReadDelivery } from '@switchboard/client/methods'
import { client } from './http.ts'

export interface Obstacle {
  readonly delivery_id: string
  readonly problem: string
  readonly tries: number
  readonly next_time: string | null
}

/** What holds up the webhooks of a subscriber: the last one whose attempt failed, and why. */
export async function findObstacle(app_id: string, lane_id?: string): Promise<Obstacle | undefined> {
  const { data } = await operatorListDeliveries(client, { app_id, state: 'failing', limit: 20 })
  const found = data.find((one) => lane_id === undefined || one.lane_id === lane_id)
  if (!found) return undefined
  const { tries, next_time } = await operatorReadDelivery(client, found.id)
  const problem = tries.at(-1)?.problem
  return problem ? { delivery_id: found.id, problem, tries: tries.length, next_time } : undefined
}
