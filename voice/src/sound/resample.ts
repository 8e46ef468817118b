import { type Samples, sampleRate } from './samples.ts'

/** How many samples around a place decide about its value. */
const reach = 16

/** One channel of the mean of all. */
export function mixChannels(samples: Int16Array, channels: number): Samples {
  if (channels === 1) return samples
  return Int16Array.from({ length: Math.floor(samples.length / channels) }, (_, frame) => {
    let sum = 0
    for (let channel = 0; channel < channels; channel++) sum += samples[frame * channels + channel] as number
    return Math.round(sum / channels)
  })
}

/** The same sound at 48,000 samples a second, by a windowed sinc: what is too high for it does not come back as another tone. */
export function resample(samples: Samples, rate: number): Samples {
  if (rate === sampleRate) return samples
  const cut = Math.min(1, sampleRate / rate)
  const half = Math.ceil(reach / cut)
  /** By where a place lies between two samples: most rates have few such places, which come again and again. */
  const weights = new Map<number, Float32Array>()
  const resampled = new Int16Array(Math.floor((samples.length * sampleRate) / rate))
  for (let index = 0; index < resampled.length; index++) {
    const before = Math.floor((index * rate) / sampleRate)
    const rest = index * rate - before * sampleRate
    const around = weights.get(rest) ?? weighAround(rest / sampleRate, half, cut)
    weights.set(rest, around)
    const first = before - half
    const last = Math.min(around.length, samples.length - first)
    let sum = 0
    for (let at = Math.max(0, -first); at < last; at++) sum += (samples[first + at] as number) * (around[at] as number)
    resampled[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum)))
  }
  return resampled
}

/** What each sample counts for a place between 0 and 1, from `half` samples before it on. */
function weighAround(place: number, half: number, cut: number): Float32Array {
  return Float32Array.from({ length: 2 * half + 1 }, (_, at) => {
    const distance = at - half - place
    const x = (distance * cut) / reach
    return Math.abs(x) > 1 ? 0 : cut * sinc(distance * cut) * window(x)
  })
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
}

/** Blackman's, from -1 to 1. */
function window(x: number): number {
  return 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x)
}
