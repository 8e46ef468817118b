import { findLevel } from './sound-level.ts'

/** In samples: longer than the time between two readings, so that nothing is missed. */
const windowSize = 8192
/** A short sound falls slowly enough to be seen. */
const halfLifeMilliseconds = 200

/** How loud one stream is, from 0 to 1. */
export class LevelMeter {
  readonly #analyser: AnalyserNode
  readonly #samples = new Float32Array(windowSize)
  #level = 0
  #readAt = performance.now()

  constructor(context: AudioContext, stream: MediaStream) {
    this.#analyser = new AnalyserNode(context, { fftSize: windowSize })
    context.createMediaStreamSource(stream).connect(this.#analyser)
  }

  read(): number {
    const now = performance.now()
    const fallen = this.#level * 0.5 ** ((now - this.#readAt) / halfLifeMilliseconds)
    this.#analyser.getFloatTimeDomainData(this.#samples)
    this.#level = Math.max(findLevel(this.#samples), fallen)
    this.#readAt = now
    return this.#level
  }
}
