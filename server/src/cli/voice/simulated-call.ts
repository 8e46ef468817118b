import { CommandFailed } from '../fail.ts'
import { openGateway, type RemoteFlags } from '../remote.ts'
import { readDuration, readNumber, runSoundCommand } from './sound-command.ts'

export interface SoundFlags extends RemoteFlags {
  readonly to?: string
  readonly from?: string
  readonly name?: string
  readonly answer?: string
  readonly audio?: string
  readonly record?: string
  readonly dtmf?: string
  readonly loss?: string
  readonly for?: string
  readonly expectSound?: boolean
  readonly address: readonly string[]
  readonly json?: boolean
}

/** Whether a simulated call carries sound; without it the call is signalled alone. */
export function hasSound(flags: SoundFlags): boolean {
  if (flags.audio !== undefined || flags.record !== undefined || flags.dtmf !== undefined) return true
  const [useless] = [
    flags.loss !== undefined && '--loss',
    flags.for !== undefined && '--for',
    flags.expectSound === true && '--expect-sound',
    flags.address.length > 0 && '--address',
    flags.json === true && '--json',
  ].filter((flag) => flag !== false)
  if (useless === undefined) return false
  throw new CommandFailed(`${useless} is for a call with sound: give --audio, --record or --dtmf as well`)
}

/** Makes or takes a call as a user's phone, in this process, with sound. */
export async function simulateCallWithSound(flags: SoundFlags): Promise<void> {
  const loss = readNumber('--loss', flags.loss, [0, 100])
  const durationMs = readDuration('--for', flags.for)
  await runSoundCommand(openGateway(flags), (voice, { client, iceServers, output, stopped }) => {
    const { to, from, name, answer, audio, record, dtmf, address, json = false, expectSound = false } = flags
    const other = answer !== undefined ? { answer } : { to: to ?? '', from: from ?? '', name }
    const does = { with: other, audio, record, dtmf, loss, durationMs, addresses: address, iceServers }
    return voice.runUserCall({ ...does, client, expectSound, json, stopped }, output)
  })
}
