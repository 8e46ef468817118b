import { CommandFailed } from '../fail.ts'
import { openGateway, type RemoteFlags } from '../remote.ts'
import { readPort, runSoundCommand } from './sound-command.ts'

export interface MediaFlags extends RemoteFlags {
  readonly host?: string
  readonly port?: string
  readonly address: readonly string[]
}

/** Runs an edge, which plays the phones of users: a process without a store, beside a server. */
export async function serveMedia(flags: MediaFlags): Promise<void> {
  const remote = openGateway(flags)
  const port = readPort(flags.port)
  if (flags.url === undefined) {
    throw new CommandFailed(
      '--role media plays the phones of a server: name it with --url, such as http://127.0.0.1:8080',
    )
  }
  await runSoundCommand(remote, (voice, { client, iceServers, output, stopped }) => {
    const { host = '127.0.0.1', address } = flags
    return voice.runEdge(
      { client, host, port: port ?? 0, addresses: address, iceServers, json: false, stopped },
      output,
    )
  })
}
