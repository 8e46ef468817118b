import { findFrequency } from './frequency.ts'
import { type Samples, sampleRate } from './samples.ts'

/** What was heard at its loudest. */
export interface HeardSound {
  /** The loudest frequency, in hertz; null: silence. */
  readonly hz: number | null
  /** The mean power, in decibels below the loudest possible. */
  readonly level: number
}

/** Below it nobody says anything, in decibels. */
const silence = -50
/** What pure silence counts as, which has no logarithm. */
const lowest = -100

const blockSamples = sampleRate / 10
const blocksPerSecond = 10
/** So much silence leaves nothing of before within a second. */
const longestGap = sampleRate

/** Keeps the loudest second of a sound that comes in pieces. */
export class LoudestSecond {
  #block = new Int16Array(blockSamples)
  #filled = 0
  /** The last second, in blocks. */
  #last: Block[] = []
  #best: readonly Block[] = []
  #bestEnergy = -1
  #position = 0

  /** Adds a piece that begins at a place, in samples since the first one. */
  add(samples: Samples, at: number): void {
    for (let gap = Math.min(at - this.#position, longestGap); gap > 0; gap--) this.#push(0)
    for (const sample of samples) this.#push(sample)
    this.#position = at + samples.length
  }

  #push(sample: number): void {
    this.#block[this.#filled++] = sample
    if (this.#filled === blockSamples) this.#endBlock()
  }

  #endBlock(): void {
    const samples = this.#block.subarray(0, this.#filled)
    let energy = 0
    for (const sample of samples) energy += sample * sample
    this.#last = [...this.#last, { samples, energy }].slice(-blocksPerSecond)
    const sum = this.#last.reduce((all, block) => all + block.energy, 0)
    // Until a second has passed it is the whole sound: a short noise in silence is not a second of noise.
    if (sum > this.#bestEnergy || this.#best.length < blocksPerSecond) {
      this.#best = this.#last
      this.#bestEnergy = sum
    }
    this.#block = new Int16Array(blockSamples)
    this.#filled = 0
  }

  /** What was heard so far. */
  measure(): HeardSound {
    // The rest of the last block matters where there is no whole second yet.
    if (this.#filled > 0 && this.#best.length < blocksPerSecond) this.#endBlock()
    const second = joinBlocks(this.#best)
    const power = second.length === 0 ? 0 : this.#bestEnergy / second.length
    const level = power === 0 ? lowest : Math.max(lowest, 10 * Math.log10(power / 32_768 ** 2))
    return { hz: level < silence ? null : findFrequency(second), level: Math.round(level * 10) / 10 }
  }
}

interface Block {
  readonly samples: Samples
  readonly energy: number
}

function joinBlocks(blocks: readonly Block[]): Samples {
  const all = new Int16Array(blocks.reduce((sum, { samples }) => sum + samples.length, 0))
  let at = 0
  for (const { samples } of blocks) {
    all.set(samples, at)
    at += samples.length
  }
  return all
}
