import { isIPv4 } from 'node:net'
import { RTCPeerConnection, RTCRtpCodecParameters } from 'werift'
import type { IceServers } from './ice-servers.ts'

/** The profile of calls: Opus, and the keys of a keypad. */
const opus = {
  mimeType: 'audio/opus',
  clockRate: 48_000,
  channels: 2,
  payloadType: 111,
  parameters: 'minptime=10;useinbandfec=1',
}
const keys = { mimeType: 'audio/telephone-event', clockRate: 8000, payloadType: 126, parameters: '0-16' }

/** A connection for one stream of sound, which offers these addresses and no others. */
export function openConnection(addresses: readonly string[], iceServers: IceServers): RTCPeerConnection {
  const connection = new RTCPeerConnection({
    codecs: { audio: [new RTCRtpCodecParameters(opus), new RTCRtpCodecParameters(keys)], video: [] },
    iceServers: [...iceServers],
    // What this machine has is found by ourselves, because the library leaves out the loopback address.
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: [...addresses],
    bundlePolicy: 'max-bundle',
  })
  return connection
}

/** What the library does not offer to others: its version is pinned. */
interface Gatherer {
  stunServer: unknown
  options: { interfaceAddresses?: { udp4?: string; udp6?: string } }
  getCandidatePromises(addresses: string[], timeout?: number): Promise<unknown>[]
}

/** Has each address bound by a socket of its own, and asks no server for others unless one is named. Call it before candidates are gathered. */
export function bindAddresses(connection: RTCPeerConnection, iceServers: IceServers): void {
  for (const { connection: ice } of connection.iceTransports as unknown as { connection: Gatherer }[]) {
    // The library asks a public server even where none is named.
    if (iceServers.length === 0) ice.stunServer = undefined
    // And it would bind every socket to all addresses.
    const gather = ice.getCandidatePromises.bind(ice)
    ice.getCandidatePromises = (all, timeout) =>
      all.flatMap((address) => {
        ice.options.interfaceAddresses = isIPv4(address) ? { udp4: address } : { udp6: address }
        return gather([address], timeout)
      })
  }
}

/** Ends what is left of a handshake: the library goes on sending it for half a minute, and a program could not end before. */
export function endHandshakes(connection: RTCPeerConnection): void {
  for (const { dtls } of connection.dtlsTransports as unknown as { dtls?: { dtls: { flight: number } } }[]) {
    // It compares this with the step that it waits for.
    if (dtls) dtls.dtls.flight = Number.POSITIVE_INFINITY
  }
}

/** One side of a handshake, of which the library offers nothing to others. */
interface Handshake {
  dtls: { flight: number }
  onHandleHandshakes(messages: { msg_type: number }[]): Promise<void>
}

const helloVerifyRequest = 3

/**
 * Has the connection survive a moment in which nothing comes. A side that waits half a second for the first answer of a handshake asks
 * again and gets two: the library takes the second for a fault, and the call would never connect. Call it before the handshake.
 */
export function ignoreRepeatedAnswers(connection: RTCPeerConnection): void {
  for (const transport of connection.dtlsTransports) {
    transport.onStateChange.subscribe(async (state) => {
      if (state !== 'connecting') return
      // It makes its side of the handshake in this turn, and begins to talk later.
      await Promise.resolve()
      const side = transport.dtls as unknown as Handshake | undefined
      if (!side) return
      const take = side.onHandleHandshakes.bind(side)
      side.onHandleHandshakes = (messages) =>
        take(
          messages.filter(({ msg_type }) => msg_type !== helloVerifyRequest || side.dtls.flight < helloVerifyRequest),
        )
    })
  }
}
