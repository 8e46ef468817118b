/** The time of the system as it was when this was loaded: a test may set a time of its own, which waits must not stop at. */
const { setTimeout, clearTimeout, performance } = globalThis
const now = performance.now.bind(performance)

/** No timer is longer: `Infinity` is as long as that. */
export const longestTimer = 2 ** 31 - 1

/** Runs something later; gives what cancels it. */
export function runLater(milliseconds: number, run: () => void): () => void {
  const timer = setTimeout(run, Math.min(milliseconds, longestTimer))
  return () => clearTimeout(timer)
}

/** Milliseconds of a clock that nobody sets. */
export function readMonotonicTime(): number {
  return now()
}
