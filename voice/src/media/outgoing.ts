import { RtpHeader, RtpPacket } from 'werift'
import { frameMs, frameSamples } from '../sound/samples.ts'
import type { SoundSource } from '../sound/sources.ts'
import { endsOfKey, packetsBetweenKeys, packetsOfKey, writeKey } from './keys.ts'
import type { Loss } from './loss.ts'

/** Further behind than this, packets are left out: what is too late for an ear is no use in a bunch. */
const mostBehindMs = 500

/** Sends a packet by the name of its codec. */
export type SendPacket = (codec: 'opus' | 'keys', packet: RtpPacket) => void

interface PressedKey {
  readonly key: string
  readonly timestamp: number
  sent: number
}

/** What one side says: a packet every 20 ms, by the clock, for as long as the call goes on. */
export class Outgoing {
  readonly #send: SendPacket
  readonly #source: SoundSource
  readonly #loss: Loss
  #timer: NodeJS.Timeout | undefined
  #startedAt = 0
  /** How many times 20 ms have passed. */
  #turns = 0
  #sequenceNumber = 0
  #sent = 0
  #isStopped = false
  #isFirst = true
  #keys: string[] = []
  #pressed: PressedKey | undefined
  #rest = 0
  #onKeysSent: (() => void)[] = []

  constructor(source: SoundSource, loss: Loss, send: SendPacket) {
    this.#source = source
    this.#loss = loss
    this.#send = send
  }

  get sent(): number {
    return this.#sent
  }

  start(): void {
    if (this.#timer || this.#isStopped) return
    this.#startedAt = performance.now()
    this.#plan()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#source.close()
    for (const done of this.#onKeysSent) done()
  }

  /** Presses keys, one after the other; done when the last is sent, or the call is over. */
  press(keys: string): Promise<void> {
    if (keys === '' || this.#isStopped) return Promise.resolve()
    this.#keys.push(...keys)
    return new Promise((resolve) => this.#onKeysSent.push(resolve))
  }

  #plan(): void {
    const dueAt = this.#startedAt + this.#turns * frameMs
    this.#timer = setTimeout(() => this.#catchUp(), Math.max(0, dueAt - performance.now()))
  }

  #catchUp(): void {
    const passed = Math.floor((performance.now() - this.#startedAt) / frameMs) + 1
    const most = Math.floor(mostBehindMs / frameMs)
    if (passed - this.#turns > most) this.#turns = passed - most
    for (; this.#turns < passed; this.#turns++) this.#turn()
    this.#plan()
  }

  #turn(): void {
    const timestamp = this.#turns * frameSamples
    if (!this.#pressed && this.#rest === 0) {
      const key = this.#keys.shift()
      if (key !== undefined) this.#pressed = { key, timestamp, sent: 0 }
    }
    if (this.#rest > 0) this.#rest -= 1
    if (this.#pressed) this.#sendKey(this.#pressed)
    else this.#sendSound(timestamp)
  }

  #sendSound(timestamp: number): void {
    this.#sendPacket('opus', Buffer.from(this.#source.next()), timestamp, this.#isFirst)
    this.#isFirst = false
  }

  #sendKey(pressed: PressedKey): void {
    pressed.sent += 1
    const isEnd = pressed.sent === packetsOfKey
    const payload = writeKey(pressed.key, pressed.sent, isEnd)
    for (let times = isEnd ? endsOfKey : 1; times > 0; times--) {
      this.#sendPacket('keys', payload, pressed.timestamp, pressed.sent === 1)
    }
    if (!isEnd) return
    this.#pressed = undefined
    this.#rest = packetsBetweenKeys
    if (this.#keys.length > 0) return
    for (const done of this.#onKeysSent) done()
    this.#onKeysSent = []
  }

  #sendPacket(codec: 'opus' | 'keys', payload: Buffer, timestamp: number, marker: boolean): void {
    const sequenceNumber = this.#sequenceNumber++ & 0xffff
    if (this.#loss.isNextLost()) return
    this.#sent += 1
    this.#send(codec, new RtpPacket(new RtpHeader({ sequenceNumber, timestamp: timestamp >>> 0, marker }), payload))
  }
}
