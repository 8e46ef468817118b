import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { openPage } from './console-page.ts'
import { until } from './until.ts'

export const fakeMicrophoneHz = 400

/**
 * A second of the tone that the microphone hears, again and again. The beeps that Chromium makes by itself are pulses of one side, in
 * which the lowest frequencies may be the loudest.
 */
function writeTone(): string {
  const rate = 48_000
  const samples = Int16Array.from(
    { length: rate },
    (_, at) => 8000 * Math.sin((2 * Math.PI * fakeMicrophoneHz * at) / rate),
  )
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + samples.byteLength, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples.byteLength, 40)
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-microphone-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'tone.wav')
  writeFileSync(file, Buffer.concat([head, Buffer.from(samples.buffer)]))
  return file
}

/** Chromium with a microphone that hears a tone, and with connections of this machine alone. */
export const callFlags: readonly string[] = [
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  `--use-file-for-fake-audio-capture=${writeTone()}`,
  '--autoplay-policy=no-user-gesture-required',
  '--allow-loopback-in-peer-connection',
  '--disable-features=WebRtcHideLocalIpsWithMdns',
]

/** What a meter of the console shows of silence. */
export const silenceLevel = 0.02

// Code for the page is kept as text: it is sent to the browser.

/** Echo cancelling and noise suppression take tones for noise; and no candidate leads out of this machine. Notes what the page uses. */
const prepare = `
  const { mediaDevices } = navigator
  if (mediaDevices) {
    const ask = mediaDevices.getUserMedia.bind(mediaDevices)
    window.askedForMicrophone = 0
    mediaDevices.getUserMedia = async () => {
      window.askedForMicrophone += 1
      await window.microphonePrompt?.promise
      const stream = await ask({ audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false } })
      window.microphones = [...(window.microphones ?? []), ...stream.getTracks()]
      return stream
    }
  }
  window.tones = []
  const { insertDTMF } = RTCDTMFSender.prototype
  RTCDTMFSender.prototype.insertDTMF = function (...rest) {
    this.ontonechange = ({ tone }) => window.tones.push(tone)
    return insertDTMF.apply(this, rest)
  }
  const described = Object.getOwnPropertyDescriptor(RTCPeerConnection.prototype, 'localDescription')
  Object.defineProperty(RTCPeerConnection.prototype, 'localDescription', {
    get() {
      const description = described.get.call(this)
      const lines = description?.sdp.split('\\r\\n').filter((line) => !line.startsWith('a=candidate') || (line.includes(' 127.0.0.1 ') && !window.keepsNoCandidates))
      return description && new RTCSessionDescription({ type: description.type, sdp: lines.join('\\r\\n') })
    },
  })
`

/** The loudest frequency of a stream, between the steps of the analysis, and how loud it is, in dB of full scale. */
const listen = `(holder, stream) => {
  if (!stream) return { hz: 0, level: -200 }
  if (holder.ear?.stream !== stream) {
    const context = new AudioContext()
    const analyser = context.createAnalyser()
    analyser.fftSize = 16384
    analyser.smoothingTimeConstant = 0
    context.createMediaStreamSource(stream).connect(analyser)
    holder.ear = { stream, context, analyser }
  }
  const { context, analyser } = holder.ear
  const levels = new Float32Array(analyser.frequencyBinCount)
  analyser.getFloatFrequencyData(levels)
  const at = levels.reduce((best, level, bin) => (level > levels[best] ? bin : best), 1)
  const [before, level, after] = [levels[at - 1], levels[at], levels[at + 1]]
  const aside = (before - after) / (2 * (before - 2 * level + after)) || 0
  return { hz: (at + aside) * context.sampleRate / analyser.fftSize, level: Number.isFinite(level) ? level : -200 }
}`

export interface Heard {
  readonly hz: number
  /** In dB of full scale. */
  readonly level: number
}

/** Opens a page of the console on which calls can be made; its sound stays on this machine. */
export async function openCallPage(t: TestContext, browser: Browser, url: string): Promise<Page> {
  // Any small document of the server, until what the page needs is prepared.
  const page = await openPage(t, browser, new URL('/healthz', url).href)
  await page.addInitScript(prepare)
  await page.goto(url)
  return page
}

/** From now on the descriptions of a page have no candidates: it finds no address of its machine. */
export async function keepNoCandidates(page: Page): Promise<void> {
  await page.evaluate('window.keepsNoCandidates = true')
}

/** From now on a page never hears that its candidates are complete. */
export async function gatherForever(page: Page): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(RTCPeerConnection.prototype, 'iceGatheringState', { get: () => 'gathering' })`,
  )
}

/** What a meter of a phone shows, `The user` or `The business`. */
export async function readMeter(phone: Locator, name: string): Promise<number> {
  return Number(await phone.getByRole('meter', { name }).getAttribute('value'))
}

/** What a phone plays now; silence before the call is accepted. */
export function hearPhone(phone: Locator): Promise<Heard> {
  return askAudio(phone, `(${listen})(audio, audio?.srcObject)`)
}

/** Whether a phone plays anything, loud or silent. */
export function isPlaying(phone: Locator): Promise<boolean> {
  return askAudio(phone, 'audio?.srcObject?.active === true && !audio.paused')
}

async function askAudio<T>(phone: Locator, question: string): Promise<T> {
  const selector = JSON.stringify(`[aria-label="${await phone.getAttribute('aria-label')}"] audio`)
  return phone.page().evaluate<T>(`((audio) => ${question})(document.querySelector(${selector}))`)
}

/** Waits until a tone is heard, which tones begin with before they are steady. */
export async function untilHeard(listenNow: () => Promise<Heard>, hz: number, tolerance = 5): Promise<void> {
  let heard: Heard | undefined
  await until(
    async () => {
      heard = await listenNow()
      return heard.level > -60 && Math.abs(heard.hz - hz) <= tolerance
    },
    () => `${hz} Hz is heard: ${JSON.stringify(heard)}`,
  )
}

/** Tracks of the microphone that a page has had, and that still live. */
export function countLiveMicrophones(page: Page): Promise<number> {
  return page.evaluate(`(window.microphones ?? []).filter(({ readyState }) => readyState === 'live').length`)
}

/** Tracks of the microphone that a page has had. */
export function countMicrophones(page: Page): Promise<number> {
  return page.evaluate('(window.microphones ?? []).length')
}

/** How often a page has asked for the microphone since it was loaded. */
export function countMicrophoneRequests(page: Page): Promise<number> {
  return page.evaluate('window.askedForMicrophone')
}

/** From now on whoever asks a page for the microphone waits, as long as its user does not answer the prompt of the browser. */
export async function holdPrompt(page: Page): Promise<void> {
  await page.evaluate('window.microphonePrompt = Promise.withResolvers(), undefined')
}

/** The user gives the microphone, now and from now on. */
export async function answerPrompt(page: Page): Promise<void> {
  await page.evaluate('window.microphonePrompt.resolve()')
}

const noteOpened = `(() => {
  const opened = { peers: [], contexts: [], timers: new Set() }
  window.opened = opened
  const { RTCPeerConnection, AudioContext, setInterval, clearInterval } = window
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...rest) {
      super(...rest)
      opened.peers.push(this)
    }
  }
  window.AudioContext = class extends AudioContext {
    constructor(...rest) {
      super(...rest)
      opened.contexts.push(this)
    }
  }
  window.setInterval = (...rest) => {
    const timer = setInterval(...rest)
    opened.timers.add(timer)
    return timer
  }
  window.clearInterval = (timer) => {
    opened.timers.delete(timer)
    clearInterval(timer)
  }
})()`

/** From now on a page notes what it opens for calls. */
export async function noteResources(page: Page): Promise<void> {
  await page.evaluate(noteOpened)
}

/** Waits until the connection that a page has opened last reaches the other side. */
export async function whenReached(page: Page): Promise<void> {
  await page.waitForFunction(`opened.peers.at(-1)?.iceConnectionState === 'connected'`)
}

export interface OpenResources {
  readonly peers: number
  readonly contexts: number
  readonly timers: number
}

/** What a page has opened since then, and has not closed: connections, contexts of sound, timers that repeat. */
export function readResources(page: Page): Promise<OpenResources> {
  return page.evaluate(`({
    peers: opened.peers.filter(({ connectionState }) => connectionState !== 'closed').length,
    contexts: opened.contexts.filter(({ state }) => state !== 'closed').length,
    timers: opened.timers.size,
  })`)
}

/** The keys whose tones a page has sent. */
export async function readTones(page: Page): Promise<string> {
  return page.evaluate(`window.tones.join('')`)
}

const openPeer = `async (hz) => {
  const context = new AudioContext()
  const oscillator = new OscillatorNode(context, { frequency: hz ?? 440 })
  const volume = new GainNode(context, { gain: hz === null ? 0 : 0.5 })
  const { stream } = oscillator.connect(volume).connect(new MediaStreamAudioDestinationNode(context))
  oscillator.start()
  const peer = new RTCPeerConnection()
  peer.addTrack(stream.getTracks()[0], stream)
  peer.addEventListener('track', ({ track }) => {
    const audio = new Audio()
    audio.srcObject = new MediaStream([track])
    audio.play()
    window.heard = audio
  })
  window.peer = peer
}`
const describePeer = `async () => {
  await peer.setLocalDescription()
  await new Promise((resolve) => {
    const check = () => peer.iceGatheringState === 'complete' && resolve()
    peer.addEventListener('icegatheringstatechange', check)
    check()
  })
  return peer.localDescription.sdp
}`

/** The business's end of a call: a connection in a page of its own, whose descriptions the test hands on through the API. */
export class BusinessPeer {
  readonly page: Page

  private constructor(page: Page) {
    this.page = page
  }

  /** One that plays a tone, or sends silence. */
  static async open(t: TestContext, browser: Browser, url: string, hz: number | null): Promise<BusinessPeer> {
    const page = await openCallPage(t, browser, new URL('/healthz', url).href)
    await page.evaluate(`(${openPeer})(${hz})`)
    return new BusinessPeer(page)
  }

  /** What is offered from now on has video beside the sound. */
  async addVideo(): Promise<void> {
    await this.page.evaluate(`peer.addTransceiver('video', { direction: 'sendonly' }), undefined`)
  }

  offer(): Promise<string> {
    return this.page.evaluate(`(${describePeer})()`)
  }

  async answer(offer: string): Promise<string> {
    await this.#take('offer', offer)
    return this.page.evaluate(`(${describePeer})()`)
  }

  async takeAnswer(answer: string): Promise<void> {
    await this.#take('answer', answer)
  }

  /** What comes from the phone now. */
  hear(): Promise<Heard> {
    return this.page.evaluate(`(${listen})(window, window.heard?.srcObject)`)
  }

  async whenConnected(): Promise<void> {
    await this.page.waitForFunction(`peer.connectionState === 'connected'`)
  }

  /** Sends no packet any more, and stays connected. */
  async stopSending(): Promise<void> {
    await this.page.evaluate('peer.getSenders()[0].replaceTrack(null)')
  }

  async close(): Promise<void> {
    await this.page.evaluate('peer.close()')
  }

  async #take(type: 'offer' | 'answer', sdp: string): Promise<void> {
    await this.page.evaluate(`peer.setRemoteDescription({ type: '${type}', sdp: ${JSON.stringify(sdp)} })`)
  }
}
