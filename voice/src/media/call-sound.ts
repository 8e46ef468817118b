import type {
  RTCPeerConnection,
  RTCRtpCodecParameters,
  RTCRtpTransceiver,
  RTCSessionDescription,
  RtpPacket,
} from 'werift'
import type { Recording } from '../sound/recording.ts'
import { Echo, type SoundSource } from '../sound/sources.ts'
import { bindAddresses, endHandshakes, ignoreRepeatedAnswers, openConnection } from './connection.ts'
import type { Heard } from './heard.ts'
import type { IceServers } from './ice-servers.ts'
import { Incoming } from './incoming.ts'
import { Loss } from './loss.ts'
import { Outgoing } from './outgoing.ts'
import { tidyDescription } from './tidy-description.ts'

export interface CallSoundOptions {
  /** The addresses that are offered and bound. */
  readonly addresses: readonly string[]
  readonly iceServers: IceServers
  /** What is said; left out: what is heard is said back. */
  readonly source?: SoundSource | undefined
  readonly recording?: Recording | undefined
  /** The share of the packets that is left out, in percent. */
  readonly loss?: number | undefined
  readonly random?: (() => number) | undefined
  readonly onConnected?: () => void
  readonly onKey?: (key: string) => void
  /** The connection is gone, and this side did not end it. */
  readonly onLost?: () => void
}

/** What was said and heard in a call. */
export interface CallSummary {
  readonly sent: { readonly packets: number }
  readonly heard: Heard
}

/** The sound of one call at a peer without a browser. */
export class CallSound {
  readonly #connection: RTCPeerConnection
  readonly #transceiver: RTCRtpTransceiver
  readonly #iceServers: IceServers
  readonly #outgoing: Outgoing
  readonly #incoming: Incoming
  readonly #options: CallSoundOptions
  #codecs: readonly RTCRtpCodecParameters[] = []
  #maySpeak = false
  #isConnected = false
  #summary: CallSummary | undefined

  constructor(options: CallSoundOptions) {
    this.#options = options
    this.#iceServers = options.iceServers
    const echo = new Echo()
    const source = options.source ?? echo
    const loss = new Loss(options.loss ?? 0, options.random ?? Math.random)
    this.#outgoing = new Outgoing(source, loss, (codec, packet) => this.#send(codec, packet))
    this.#incoming = new Incoming({
      recording: options.recording,
      onSound: (packet) => echo.hear(packet),
      onKey: (key) => options.onKey?.(key),
    })
    this.#connection = openConnection(options.addresses, options.iceServers)
    this.#transceiver = this.#connection.addTransceiver('audio', { direction: 'sendrecv' })
    this.#connection.connectionStateChange.subscribe((state) => this.#onState(state))
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  get heardPackets(): number {
    return this.#incoming.packets
  }

  /** For how long nothing has been heard, in milliseconds, of a time that began at `since` (`performance.now()`). */
  silentSince(since: number): number {
    return performance.now() - Math.max(since, this.#incoming.lastAt ?? since)
  }

  /** The description of a side that calls, with all its candidates. */
  async offer(): Promise<string> {
    const offer = await this.#connection.createOffer()
    return this.#describe(offer)
  }

  /** The description of the side that was called. */
  async takeAnswer(sdp: string): Promise<void> {
    await this.#connection.setRemoteDescription({ type: 'answer', sdp: tidyDescription(sdp) })
    this.#negotiate()
  }

  /** The description of a side that is called, with all its candidates. */
  async answer(offer: string): Promise<string> {
    await this.#connection.setRemoteDescription({ type: 'offer', sdp: tidyDescription(offer) })
    const answer = await this.#describe(await this.#connection.createAnswer())
    this.#negotiate()
    return answer
  }

  /** From now on this side may be heard: the call was taken. */
  speak(): void {
    this.#maySpeak = true
    if (this.#isConnected) this.#outgoing.start()
  }

  press(keys: string): Promise<void> {
    return this.#outgoing.press(keys)
  }

  /** Ends the sound, and says what was said and heard. */
  async close(): Promise<CallSummary> {
    if (this.#summary) return this.#summary
    this.#outgoing.stop()
    this.#summary = { sent: { packets: this.#outgoing.sent }, heard: this.#incoming.close() }
    endHandshakes(this.#connection)
    await this.#connection.close()
    return this.#summary
  }

  async #describe(description: RTCSessionDescription): Promise<string> {
    bindAddresses(this.#connection, this.#iceServers)
    ignoreRepeatedAnswers(this.#connection)
    await this.#connection.setLocalDescription(description)
    return this.#connection.localDescription?.sdp ?? description.sdp
  }

  #negotiate(): void {
    this.#codecs = this.#transceiver.codecs
    this.#incoming.setCodecs({ opus: this.#typesOf('audio/opus'), keys: this.#typesOf('audio/telephone-event') })
    for (const transport of this.#connection.dtlsTransports) {
      // Not the track of the library: it passes on nothing of a sender that its description did not number.
      transport.onRtp.subscribe((packet) => this.#hear(packet))
    }
  }

  #hear(packet: RtpPacket): void {
    if (!this.#summary) this.#incoming.add(packet)
  }

  #typesOf(name: string): Set<number> {
    return new Set(this.#codecs.filter((codec) => isNamed(codec, name)).map(({ payloadType }) => payloadType))
  }

  /** The library writes the payload type of the one codec that its sender has. */
  #send(kind: 'opus' | 'keys', packet: RtpPacket): void {
    const { sender } = this.#transceiver
    const name = kind === 'opus' ? 'audio/opus' : 'audio/telephone-event'
    const candidates = this.#codecs.filter((codec) => isNamed(codec, name))
    const codec = candidates.find(({ clockRate }) => kind === 'opus' || clockRate === 8000)
    // The other side takes no keys: then they are not sent.
    if (!codec) return
    const usual = sender.codec
    sender.codec = codec
    const sending = sender.sendRtp(packet)
    sender.codec = usual
    // A packet that cannot be sent is lost, as any other; that the connection is gone is said by its state.
    sending.catch(() => undefined)
  }

  #onState(state: RTCPeerConnection['connectionState']): void {
    if (this.#summary) return
    if (state === 'connected' && !this.#isConnected) {
      this.#isConnected = true
      if (this.#maySpeak) this.#outgoing.start()
      this.#options.onConnected?.()
    }
    if (state === 'failed' || state === 'disconnected' || state === 'closed') this.#options.onLost?.()
  }
}

function isNamed({ mimeType }: RTCRtpCodecParameters, name: string): boolean {
  return mimeType.toLowerCase() === name
}
