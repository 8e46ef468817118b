import { CommandFailed } from '../fail.ts'
import { openBusiness, type RemoteFlags } from '../remote.ts'
import { readNumber, readPort, runSoundCommand } from './sound-command.ts'

export interface AgentFlags extends RemoteFlags {
  readonly number: string
  readonly call?: string
  readonly hz?: string
  readonly record?: string
  readonly address: readonly string[]
  readonly port?: string
  readonly json?: boolean
  readonly restore?: boolean
}

/** Runs a business's voice agent; or puts back the callback that a killed one replaced. */
export async function runVoiceAgent(mode: string | undefined, flags: AgentFlags): Promise<void> {
  const remote = openBusiness(flags)
  const hz = readNumber('--hz', flags.hz, [20, 20_000]) ?? 440
  const port = readPort(flags.port)
  await runSoundCommand(remote, async (voice, { client, iceServers, output, stopped }) => {
    const { number, call, record, address, json = false } = flags
    if (flags.restore) {
      if (mode !== undefined) throw new CommandFailed('--restore only puts the callback back: give no mode with it')
      await voice.restoreAgent(client, number)
      output.out(`the callback of ${number} is as it was before the agent`)
      return 0
    }
    const known = voice.agentModes.find((one) => one === mode)
    if (known === undefined) {
      const given = mode === undefined ? 'a mode is missing' : `${mode} is no mode of an agent`
      throw new CommandFailed(`${given}: give ${voice.agentModes.join(', ')}, or --restore`)
    }
    const command = { mode: known, client, url: remote.url, number, call, hz, record, addresses: address, iceServers }
    return voice.runAgent({ ...command, port, json, stopped }, output)
  })
}
