import assert from 'node:assert/strict'
import { load } from 'js-yaml'

/** How many times faster than in production an alert fires in the test. */
const factor = 60
/** Prometheus waits no longer for a response, and a process waits for a second for what a metric reads from its database. */
export const scrapeSeconds = 2
/** A busy machine misses a scrape or two; nothing may come of that. */
const leastSeconds = 3 * scrapeSeconds

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/**
 * The text of `deploy/alerts.yaml` with every duration divided by 60, and at least 6 s: `for`, the ranges of rates, and the seconds of
 * lateness, which are a duration too. Nothing else is changed, so that the shipped expressions are tried.
 */
export function shortenRules(text: string): string {
  return text
    .replaceAll(
      /(\bfor: |\[)(\d+)([smh])/g,
      (_, before, count, unit) => before + shorten(count * (secondsOf[unit] ?? 0)),
    )
    .replaceAll(
      /(_lateness_seconds\{[^}\n]*\}[^>\n]* > )(\d+)/g,
      (_, before, seconds) => before + shorten(seconds).slice(0, -1),
    )
}

function shorten(seconds: number): string {
  return `${Math.max(leastSeconds, Math.round(seconds / factor))}s`
}

/** The names of the alerts in a file of rules. */
export function listAlerts(text: string): string[] {
  const { groups } = load(text) as { groups: { rules: { alert: string }[] }[] }
  const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
  assert.ok(names.length > 0)
  return names
}
