/** Speech has a tenth of the amplitude that fits: so much of it fills a third of the meter. */
const gain = 3
/** About 20 ms: a key that is pressed, a beep. */
const blockSize = 1024

/** How loud the loudest part of some samples is, from 0 to 1. */
export function findLevel(samples: Float32Array): number {
  let most = 0
  for (let start = 0; start < samples.length; start += blockSize) {
    const block = samples.subarray(start, start + blockSize)
    const power = block.reduce((sum, sample) => sum + sample * sample, 0) / block.length
    most = Math.max(most, power)
  }
  return Math.min(1, gain * Math.sqrt(most))
}
