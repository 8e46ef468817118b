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
  const step = rate / sampleRate
  const cut = Math.min(1, 1 / step)
  const width = reach / cut
  return Int16Array.from({ length: Math.floor(samples.length / step) }, (_, index) => {
    const center = index * step
    let sum = 0
    for (let at = Math.ceil(center - width); at <= center + width; at++) {
      const sample = samples[at]
      if (sample !== undefined) sum += sample * cut * sinc((at - center) * cut) * window((at - center) / width)
    }
    return Math.max(-32_768, Math.min(32_767, Math.round(sum)))
  })
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
}

/** Blackman's, from -1 to 1. */
function window(x: number): number {
  return 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x)
}
