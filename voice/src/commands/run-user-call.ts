import type { Switchboard } from '@switchboard/client'
import type { IceServers } from '../media/ice-servers.ts'
import { type CallRequest, callWithSound } from '../platform/call-with-sound.ts'
import { makeEventWriter, type Output } from './event-writer.ts'

export interface UserCallCommand extends CallRequest {
  readonly client: Switchboard
  readonly iceServers?: IceServers | undefined
  /** Whether silence is a failure. */
  readonly expectSound: boolean
  readonly json: boolean
  /** Resolves when the call is to end. */
  readonly stopped: Promise<void>
}

/** Makes or takes a call as a user's phone; the code that its process ends with. */
export async function runUserCall(command: UserCallCommand, output: Output): Promise<number> {
  const onEvent = makeEventWriter(output, command.json)
  const { connected, problem, heard } = await callWithSound(command.client, command, onEvent)
  if (problem !== undefined) output.problem(problem)
  if (!connected) return 1
  if (command.expectSound && heard.hz === null) {
    output.problem(`heard silence (${heard.level} dBFS in ${heard.packets} packets): the business says nothing`)
    return 1
  }
  return 0
}
