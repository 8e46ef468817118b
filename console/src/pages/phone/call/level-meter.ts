/** Speech has a tenth of the power that fits: so much of it fills a third of the meter. */
const gain = 3

/** How loud one stream is, from 0 to 1. */
export class LevelMeter {
  readonly #analyser: AnalyserNode
  readonly #samples: Float32Array<ArrayBuffer>

  constructor(context: AudioContext, stream: MediaStream) {
    this.#analyser = context.createAnalyser()
    this.#samples = new Float32Array(this.#analyser.fftSize)
    context.createMediaStreamSource(stream).connect(this.#analyser)
  }

  read(): number {
    this.#analyser.getFloatTimeDomainData(this.#samples)
    const power = this.#samples.reduce((sum, sample) => sum + sample * sample, 0) / this.#samples.length
    return Math.min(1, gain * Math.sqrt(power))
  }
}
