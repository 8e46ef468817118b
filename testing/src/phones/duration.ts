const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** A duration such as `'5s'`, in milliseconds; a number is milliseconds already. */
export function readDuration(name: string, value: string | number): number {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(String(value)) ?? []
  const found = typeof value === 'number' ? value : Number(count) * (milliseconds[unit] ?? Number.NaN)
  if (found >= 0 && Number.isFinite(found)) return found
  throw new Error(`${name} is ${JSON.stringify(value)}: write a duration such as '5s', or milliseconds as a number`)
}
