import { type Client, gatewayStream, operatorStream } from '@switchboard/client/methods'
import { StreamHub } from './hub.ts'

/** What operators see of it in the console: messages and calls are events too. */
const types = 'request,event,delivery,try,timer,replay'

/** A hub of the streams of a service. */
export function makeHub(client: Client): StreamHub {
  return new StreamHub({
    feed: (options) => operatorStream(client, { types }, options),
    phones: (options) => gatewayStream(client, undefined, options),
  })
}
