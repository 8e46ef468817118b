import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { VoiceEvent } from '@switchboard/voice'
import { type RunningServer, startCommand } from './command.ts'
import { number } from './console-page.ts'
import { until } from './until.ts'

/** Sound that stays on this machine. */
export const loopback = ['--address', '127.0.0.1'] as const

/** What a command with sound has reported so far. */
export function readEvents({ stdout }: Pick<RunningServer, 'stdout'>): VoiceEvent[] {
  return stdout()
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
}

type EventName = VoiceEvent['event']
type EventNamed<Name extends EventName> = Extract<VoiceEvent, { event: Name }>

/** Waits for the event of that name with this number, the first when left out. */
export async function whenHappened<Name extends EventName>(
  command: RunningServer,
  name: Name,
  index = 0,
): Promise<EventNamed<Name>> {
  const find = () => readEvents(command).filter((event): event is EventNamed<Name> => event.event === name)[index]
  const describe = () => `${name} happens: ${command.stdout()}${command.stderr()}`
  let isOver = false
  void command.ended.then(() => {
    isOver = true
  })
  await until(() => isOver || find() !== undefined, describe)
  const found = find()
  assert.ok(found, describe())
  return found
}

/** Starts a voice agent of the demo world's business; it ends with the test. */
export async function startAgent(
  t: TestContext,
  server: { readonly url: string },
  cwd: string,
  args: readonly string[],
): Promise<RunningServer> {
  const at = ['--number', number, '--url', server.url, '--json', ...loopback]
  const agent = await startCommand(['agent', ...args, ...at], { cwd, ready: /"event":"(ready)"/ })
  t.after(() => agent.stop('SIGTERM'))
  return agent
}
