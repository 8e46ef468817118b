import { computed, signal } from '@preact/signals'
import type { CallSession } from '@switchboard/client/methods'
import { openMicrophone } from '../microphone.ts'
import { microphoneGone } from '../microphone-words.ts'
import { LevelMeter } from './level-meter.ts'
import {
  endLastLine,
  findMediaProblem,
  findReasonToEnd,
  hasCandidate,
  type MediaFacts,
  noOffer,
  SilenceWatch,
} from './media-facts.ts'

/** A description without any address goes out after this, so that the call does not fail in silence. */
const gatherMilliseconds = 3000
const statsMilliseconds = 1000
/** How long the tone of a key is, and the pause after it. */
const toneMilliseconds = 100
const pauseMilliseconds = 70

/** The microphone, the connection and the sound of one call: the one place where a phone meets its media. */
export class CallMedia {
  /** Plays the business. Chromium gives a meter nothing of a stream that no element plays. */
  readonly audio = document.createElement('audio')
  /** Whether the browser is asking the user for the microphone. */
  readonly isAsking = signal(false)
  /** Whether there is a connection, or one will be. */
  readonly hasSound = signal(false)
  readonly isMuted = signal(false)
  /** Whether the call could not be taken, and is to be taken again: by then the microphone is given back. */
  readonly isSuspended = signal(false)
  readonly #facts = signal<MediaFacts>({
    ...{ refusal: undefined, hasCandidates: true, link: 'new', silentSeconds: 0, timeout: undefined },
  })
  readonly problem = computed(() => findMediaProblem(this.#facts.value))
  readonly reasonToEnd = computed(() => findReasonToEnd(this.#facts.value))
  #peer: RTCPeerConnection | undefined
  #microphone: MediaStream | undefined
  #heard: MediaStream | undefined
  #meters: { readonly context: AudioContext; readonly mine: LevelMeter; readonly theirs: LevelMeter } | undefined
  /** What the phone has said of itself: candidates that it finds later, the business does not hear of. */
  #sent: string | undefined
  #watch: ReturnType<typeof setInterval> | undefined
  #isAnswered = false
  #isAccepted = false
  #isClosed = false

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Asks for the microphone, and says what the phone offers; undefined when the call is over before that. */
  async offer(): Promise<CallSession | undefined> {
    const peer = await this.#open()
    return peer && this.#describe(peer)
  }

  /** Asks for the microphone, and answers what the business offered; undefined when that is nothing, or the call is over. */
  async answer(offered: string | undefined): Promise<CallSession | undefined> {
    if (offered === undefined) {
      this.#note({ refusal: noOffer })
      return undefined
    }
    if (this.isSuspended.value) return this.#resume()
    const peer = await this.#open()
    if (!peer) return undefined
    await peer.setRemoteDescription({ type: 'offer', sdp: endLastLine(offered) }).catch((error: Error) => {
      throw new Error(`The call cannot be taken: the browser refuses the offer of the business. ${error.message}`)
    })
    const session = await this.#describe(peer)
    this.#noteCandidates()
    return session
  }

  /** Takes the answer of the business, which it may send before it accepts; only the first counts. */
  async takeAnswer(sdp: string): Promise<void> {
    const peer = this.#peer
    if (!peer || this.#isAnswered) return
    this.#isAnswered = true
    try {
      await peer.setRemoteDescription({ type: 'answer', sdp: endLastLine(sdp) })
      this.#noteCandidates()
    } catch (error) {
      if (this.#isClosed) return
      this.#note({ refusal: `The browser refuses the answer of the business. ${(error as Error).message}` })
    }
  }

  /** The call is accepted: from now on both sides hear each other. */
  accept(timeout: number | undefined): void {
    if (!this.#peer || this.#isAccepted || this.#isClosed) return
    this.#isAccepted = true
    this.#note({ timeout })
    this.#setTracks()
    this.#listen()
    const silence = new SilenceWatch(performance.now())
    this.#watch = setInterval(async () => {
      const packets = await this.#countPackets()
      if (!this.#isClosed) this.#note({ silentSeconds: silence.note(packets, performance.now()) })
    }, statsMilliseconds)
  }

  setMuted(isMuted: boolean): void {
    this.isMuted.value = isMuted
    this.#setTracks()
  }

  /** Whether the business can be sent the tones of keys. */
  get takesKeys(): boolean {
    return this.#dtmf?.canInsertDTMF === true
  }

  /** Sends the tone of a key, a digit, `*` or `#`, after the keys that are still to be sent. */
  sendKey(key: string): void {
    const dtmf = this.#dtmf
    dtmf?.insertDTMF(dtmf.toneBuffer + key, toneMilliseconds, pauseMilliseconds)
  }

  /** How loud both sides are, from 0 to 1. */
  levels(): { readonly mine: number; readonly theirs: number } {
    const [mine = 0, theirs = 0] = [this.#meters?.mine.read(), this.#meters?.theirs.read()]
    return { mine: this.isMuted.value ? 0 : mine, theirs }
  }

  /** Whether a call that could not be taken may be taken with the same connection. */
  get canResume(): boolean {
    return this.isSuspended.value && !this.#isClosed && this.#peer?.connectionState !== 'failed'
  }

  /**
   * Gives the microphone back until the call is taken again, and keeps the connection: it has begun its handshake with the business,
   * which would take another one for a part of that, and neither would end. False when there is nothing to keep.
   */
  suspend(): boolean {
    if (this.#sent === undefined || this.#isClosed) return false
    this.isSuspended.value = true
    this.hasSound.value = false
    this.#stopMicrophone()
    return true
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#watch)
    this.#stopMicrophone()
    this.#peer?.close()
    void this.#meters?.context.close()
    this.audio.srcObject = null
    this.audio.remove()
    this.isAsking.value = false
    this.hasSound.value = false
  }

  /** The microphone; undefined when the call is over before the user has given it. */
  async #openMicrophone(): Promise<MediaStream | undefined> {
    this.isAsking.value = true
    const microphone = await openMicrophone().finally(() => {
      this.isAsking.value = false
    })
    if (this.#isClosed) {
      for (const track of microphone.getTracks()) track.stop()
      return undefined
    }
    this.#microphone = microphone
    for (const track of microphone.getTracks())
      track.addEventListener('ended', () => this.#note({ refusal: microphoneGone }))
    return microphone
  }

  #stopMicrophone(): void {
    for (const track of this.#microphone?.getTracks() ?? []) track.stop()
  }

  /** What was said before, with the microphone of now; undefined when the call is over before that. */
  async #resume(): Promise<CallSession | undefined> {
    this.isSuspended.value = false
    const microphone = await this.#openMicrophone()
    if (!microphone) return undefined
    await this.#peer?.getSenders()[0]?.replaceTrack(microphone.getAudioTracks()[0] ?? null)
    this.#setTracks()
    this.#noteLink()
    this.hasSound.value = true
    return { sdp_type: 'answer', sdp: this.#sent ?? '' }
  }

  /** The connection with the microphone; undefined when the call is over before that. */
  async #open(): Promise<RTCPeerConnection | undefined> {
    const microphone = await this.#openMicrophone()
    if (!microphone) return undefined
    // Not before the microphone is granted: until then a browser hides its addresses behind names that servers cannot resolve.
    const peer = new RTCPeerConnection({ bundlePolicy: 'balanced' })
    this.#peer = peer
    peer.addEventListener('connectionstatechange', () => this.#noteLink())
    peer.addEventListener('track', ({ track }) => {
      // A business that offers video too is only heard.
      if (track.kind !== 'audio') return
      this.#heard = new MediaStream([track])
      this.#listen()
    })
    for (const track of microphone.getTracks()) peer.addTrack(track, microphone)
    this.#setTracks()
    this.hasSound.value = true
    return peer
  }

  /** Nothing of the microphone is sent before the call is accepted, nor while it is muted. */
  #setTracks(): void {
    for (const track of this.#microphone?.getTracks() ?? []) track.enabled = this.#isAccepted && !this.isMuted.value
  }

  /** Plays and measures what comes, once there is something and it may be heard. */
  #listen(): void {
    if (!this.#heard || !this.#microphone || !this.#isAccepted || this.#meters) return
    this.audio.srcObject = this.#heard
    this.audio.play().catch((error: DOMException) => {
      if (!this.#isClosed) this.#note({ refusal: `The browser does not play the business. ${error.message}` })
    })
    const context = new AudioContext()
    const mine = new LevelMeter(context, this.#microphone)
    this.#meters = { context, mine, theirs: new LevelMeter(context, this.#heard) }
  }

  get #dtmf(): RTCDTMFSender | null | undefined {
    return this.#peer?.getSenders()[0]?.dtmf
  }

  async #countPackets(): Promise<number> {
    let count = 0
    const report = await this.#peer?.getStats()
    report?.forEach((stats: RTCStats) => {
      if (stats.type === 'inbound-rtp') count += (stats as RTCInboundRtpStreamStats).packetsReceived ?? 0
    })
    return count
  }

  /** The description of this side, with every candidate that it has, because none can be sent later. */
  async #describe(peer: RTCPeerConnection): Promise<CallSession> {
    await peer.setLocalDescription()
    await whenGathered(peer)
    const { type, sdp = '' } = peer.localDescription ?? {}
    this.#sent = sdp
    return { sdp_type: type === 'answer' ? 'answer' : 'offer', sdp }
  }

  /** Nobody waits for a connection while the call is not being taken. */
  #noteLink(): void {
    if (this.#peer && !this.isSuspended.peek()) this.#note({ link: this.#peer.connectionState })
  }

  #noteCandidates(): void {
    const descriptions = [this.#sent, this.#peer?.remoteDescription?.sdp]
    this.#note({ hasCandidates: descriptions.some(hasCandidate) })
  }

  #note(facts: Partial<MediaFacts>): void {
    this.#facts.value = { ...this.#facts.peek(), ...facts }
  }
}

function whenGathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, gatherMilliseconds)
    const check = () => {
      if (peer.iceGatheringState !== 'complete' && peer.signalingState !== 'closed') return
      clearTimeout(timer)
      resolve()
    }
    peer.addEventListener('icegatheringstatechange', check)
    check()
  })
}
