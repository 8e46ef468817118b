import { type Client, gatewayStream, operatorFeedStream } from '@switchboard/client/methods'
import { StreamHub } from './hub.ts'

/** What operators see of it in the console: messages and calls are events too. */
const types = 'request,event,delivery,try,timer,replay'

/** A hub of the streams of a service. */
export function makeHub(client: Client): StreamHub {
  return new StreamHub({
    feed: (options) => operatorFeedStream(client, { types }, options),
    phones: (options) => gatewayStream(client, undefined, options),
  })
}
