/** Ctrl-C in a terminal reaches every process there, and npm passes it on as well: what comes within this time is the same one. */
const sameSignalMs = 500

/** Calls `end` at the first of these signals. One that comes clearly later is of somebody who does not want to wait: the process exits. */
export function onEndingSignals(signals: readonly NodeJS.Signals[], end: (signal: NodeJS.Signals) => unknown): void {
  let first: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (first === undefined) {
      first = now
      end(signal)
    } else if (now - first > sameSignalMs) process.exit(1)
  }
  for (const signal of signals) process.on(signal, onSignal)
}
