import { Client } from '@switchboard/client/methods'
import { makeHub } from './open.ts'

/** What is global in a shared worker, as far as it is used here. */
interface WorkerScope {
  readonly location: Location
  onconnect: ((event: MessageEvent) => void) | null
}

const scope = globalThis as unknown as WorkerScope
const { origin, pathname } = scope.location
// It is a file of the console, whose path follows the one that a proxy gives the service.
const base = pathname.replace(/\/console\/[^/]*$/, '')
const hub = makeHub(new Client({ baseUrl: origin + base, maxRetries: 0 }))

scope.onconnect = ({ ports: [port] }) => {
  if (!port) return
  const receive = hub.connect((message) => port.postMessage(message))
  port.onmessage = ({ data }) => receive(data)
}
