import { setTimeout as wait } from 'node:timers/promises'
import { parseDuration } from '../../base/time/duration.ts'
import type { FaultEffect } from '../../sandbox/fault-rules.ts'
import type { Faults } from '../../sandbox/faults.ts'
import type { PostResult } from '../rules/outcome.ts'
import type { LaneAddress } from '../store/lane-rows.ts'
import type { Entry } from './lane-queue.ts'

/** How long a status waits for posts that may overtake it. */
const reorderTimeout = 3000
const pollMilliseconds = 10

/** What a rule of a sandbox lets become of a post, if any. */
export async function findPostFault(
  faults: Faults,
  { app_id, callback_url }: LaneAddress,
  entries: readonly Entry[],
): Promise<FaultEffect | undefined> {
  const [first] = entries
  if (!first) return undefined
  const { id, account_id, field } = first.delivery
  const value = first.delivery.value ?? ''
  const phone_number_id = /"phone_number_id":"(\d+)"/.exec(value)?.[1]
  const subject = { door: undefined, operation: undefined, phone_number_id, app_id, callback: callback_url }
  const isStatus = value.includes('"statuses":[')
  const post = { delivery_id: String(id), account_id, field }
  const hit = await faults.strikeCallback(subject, post, ({ reorder }) => reorder === undefined || isStatus)
  return hit?.effect
}

/** The result of a post that was not sent. */
export function pretendResult({ status, drop }: FaultEffect, time: number): PostResult | undefined {
  if (status === undefined && !drop) return undefined
  const problem = drop ? 'the connection was closed, by a fault rule' : `it answered ${status}, by a fault rule`
  const isTaken = status !== undefined && status >= 200 && status <= 299
  return {
    time,
    duration: 0,
    status,
    problem: isTaken ? undefined : problem,
    isSilent: false,
    response: '',
    retryAfter: undefined,
    fault: undefined,
    sent: undefined,
  }
}

/** Waits as long as a rule says: for a time, or until so many other posts of the lane are done. */
export async function waitForFault({ delay, reorder }: FaultEffect, countPosts: () => number): Promise<void> {
  if (delay !== undefined) await wait(parseDuration(delay) ?? 0)
  if (reorder === undefined) return
  const [posts, end] = [countPosts() + reorder, performance.now() + reorderTimeout]
  while (countPosts() < posts && performance.now() < end) await wait(pollMilliseconds)
}
