import type { Log } from '../base/log/log.ts'

interface Result {
  readonly code: number
  readonly error?: Error
}

interface Exporter<Items> {
  export(items: Items, done: (result: Result) => void): void
}

/** Logs once that the collector is gone, and once that it is back. */
export function reportOutages<Items>(
  exporter: Exporter<Items>,
  what: 'traces' | 'metrics',
  url: string,
  log: Log,
): void {
  // Without credentials and query, which may be secrets.
  const { host } = new URL(url)
  let isDown = false
  const send = exporter.export.bind(exporter)
  exporter.export = (items, done) =>
    send(items, (result) => {
      const hasFailed = result.code !== 0
      if (hasFailed && !isDown) log.warn({ host, err: result.error }, `${what} cannot be exported, and are dropped`)
      if (!hasFailed && isDown) log.info({ host }, `${what} are exported again`)
      isDown = hasFailed
      done(result)
    })
}
