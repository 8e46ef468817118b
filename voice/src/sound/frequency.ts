import { type Samples, sampleRate } from './samples.ts'

/** Short windows find about where the loudest tone is: over a second its peak is so narrow that coarse steps miss it. */
const windowSamples = 4096
const hop = windowSamples / 2
const lowestHz = 20

/** The loudest frequency in a sound of about a second, in whole hertz. */
export function findFrequency(sound: Samples): number {
  const power = sumSpectra(sound)
  const stepHz = sampleRate / windowSamples
  let peak = Math.ceil(lowestHz / stepHz)
  for (let bin = peak; bin < power.length; bin++) if ((power[bin] as number) > (power[peak] as number)) peak = bin
  const center = Math.round(peak * stepHz)
  const around = Math.ceil(stepHz)
  let best = center
  let most = -1
  for (let hz = Math.max(lowestHz, center - around); hz <= center + around; hz++) {
    const found = powerAt(sound, hz)
    if (found > most) {
      most = found
      best = hz
    }
  }
  return best
}

/** How strong one frequency is, by the algorithm of Goertzel. */
function powerAt(sound: Samples, hz: number): number {
  const factor = 2 * Math.cos((2 * Math.PI * hz) / sampleRate)
  let before = 0
  let last = 0
  for (const sample of sound) {
    const next = sample + factor * last - before
    before = last
    last = next
  }
  return last * last + before * before - factor * last * before
}

/** The power of each frequency, summed over all windows. */
function sumSpectra(sound: Samples): Float64Array {
  const sum = new Float64Array(windowSamples / 2)
  for (let from = 0; from === 0 || from + windowSamples <= sound.length; from += hop) {
    const real = new Float64Array(windowSamples)
    const imaginary = new Float64Array(windowSamples)
    for (let at = 0; at < windowSamples; at++) {
      real[at] = (sound[from + at] ?? 0) * (0.5 - 0.5 * Math.cos((2 * Math.PI * at) / windowSamples))
    }
    transform(real, imaginary)
    for (let bin = 0; bin < sum.length; bin++) {
      sum[bin] = (sum[bin] as number) + (real[bin] as number) ** 2 + (imaginary[bin] as number) ** 2
    }
  }
  return sum
}

/** The fast Fourier transform, in place; the length is a power of two. */
function transform(real: Float64Array, imaginary: Float64Array): void {
  const { length } = real
  for (let at = 1, other = 0; at < length; at++) {
    let bit = length >> 1
    for (; other & bit; bit >>= 1) other ^= bit
    other ^= bit
    if (at < other) {
      swap(real, at, other)
      swap(imaginary, at, other)
    }
  }
  for (let size = 2; size <= length; size *= 2) {
    const half = size / 2
    for (let turn = 0; turn < half; turn++) {
      const angle = (-2 * Math.PI * turn) / size
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
      for (let at = turn; at < length; at += size) {
        const [r, i] = [real[at + half] as number, imaginary[at + half] as number]
        const [turnedReal, turnedImaginary] = [r * cos - i * sin, r * sin + i * cos]
        real[at + half] = (real[at] as number) - turnedReal
        imaginary[at + half] = (imaginary[at] as number) - turnedImaginary
        real[at] = (real[at] as number) + turnedReal
        imaginary[at] = (imaginary[at] as number) + turnedImaginary
      }
    }
  }
}

function swap(values: Float64Array, one: number, other: number): void {
  const kept = values[one] as number
  values[one] = values[other] as number
  values[other] = kept
}
