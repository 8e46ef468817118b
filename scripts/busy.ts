// Starts a server with the busy world on a free port, for people who look at the console: `npm run busy`, `npm run busy -- --small`,
// `npm run busy -- --chat 5000`, `npm run busy -- --port 8090`.
import { parseArgs } from 'node:util'
import { startBusyServer } from '../server/test/harness/busy-world/server.ts'
import { smallSize, wholeSize } from '../server/test/harness/busy-world/sizes.ts'

const { values } = parseArgs({
  options: { small: { type: 'boolean' }, chat: { type: 'string' }, port: { type: 'string' } },
})
const size = values.small ? smallSize : wholeSize
const longestChat = values.chat === undefined ? size.longestChat : Number(values.chat)
if (!Number.isInteger(longestChat) || longestChat < 1)
  throw new Error('--chat takes how many messages the longest chat has')

const server = await startBusyServer({
  size: { ...size, longestChat },
  ...(values.port !== undefined && { env: { PORT: values.port } }),
})
process.stdout.write(
  `switchboard with a busy world listening on ${server.url}, filled in ${(server.filledIn / 1000).toFixed(1)} s\n`,
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void server.stop().then(() => process.exit()))
}
