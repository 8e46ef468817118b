// Strangers that call a server as fast as it answers, in a thread of their own. Started by strangers.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { repeatRequests } from './repeat-requests.ts'
import type { StrangersPlan } from './strangers.ts'

const { url, requests, connections } = workerData as StrangersPlan
const answers: Record<number, number> = {}
let next = 0
let stop: (() => void) | undefined

parentPort?.on('message', (order: 'start' | 'stop') => {
  if (order === 'start') {
    stop = repeatRequests(
      url,
      connections,
      () => requests[next++ % requests.length] as Uint8Array,
      (status) => {
        answers[status] = (answers[status] ?? 0) + 1
      },
    )
  } else stop?.()
  parentPort?.postMessage({ ...answers })
})
