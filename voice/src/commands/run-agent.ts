import type { Switchboard } from '@switchboard/client'
import type { IceServers } from '../media/ice-servers.ts'
import { Agent, restoreCallback } from '../platform/agent.ts'
import { makeBeep, makeSilence, makeTone, type SoundSource } from '../sound/sources.ts'
import { VoiceError } from '../voice-error.ts'
import { makeEventWriter, type Output } from './event-writer.ts'

export const agentModes = ['echo', 'tone', 'beep', 'record'] as const
export type AgentMode = (typeof agentModes)[number]

export interface AgentCommand {
  readonly mode: AgentMode
  readonly client: Switchboard
  readonly url: string
  readonly number: string
  /** The user to call, once. */
  readonly call?: string | undefined
  readonly hz: number
  readonly record?: string | undefined
  readonly addresses?: readonly string[] | undefined
  readonly iceServers?: IceServers | undefined
  readonly port?: number | undefined
  readonly json: boolean
  /** Resolves when the agent is to end. */
  readonly stopped: Promise<void>
}

/** Runs a business's voice agent until it is stopped, or its one call is over; the code that its process ends with. */
export async function runAgent(command: AgentCommand, output: Output): Promise<number> {
  const { mode, hz, record, call: user } = command
  if (mode === 'record' && record === undefined) {
    throw new VoiceError('record writes down what it hears: give it a file with --record')
  }
  const onEvent = makeEventWriter(output, command.json)
  const agent = await Agent.open({
    ...command,
    makeSource: sources[mode](hz),
    takesCalls: user === undefined,
    onEvent,
  })
  try {
    if (user === undefined) {
      await command.stopped
      return 0
    }
    let isStopped = false
    const stopped = command.stopped.then(() => {
      isStopped = true
    })
    // Whoever stops it does not wait for a server that is slow to take the call.
    const call = await Promise.race([agent.call(user), stopped])
    await Promise.race([call?.ended, stopped])
    if (isStopped || call?.isAccepted) return 0
    output.problem(`${user} did not take the call`)
    return 1
  } finally {
    await agent.close()
  }
}

const sources: Readonly<Record<AgentMode, (hz: number) => () => SoundSource | undefined>> = {
  echo: () => () => undefined,
  tone: (hz) => () => makeTone(hz),
  beep: (hz) => () => makeBeep(hz),
  record: () => makeSilence,
}

/** Gives the callback of a number back after an agent was killed. */
export async function restoreAgent(client: Switchboard, number: string): Promise<void> {
  await restoreCallback(client, number)
}
