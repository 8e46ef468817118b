// CHANGELOG.md as data: versions, in each the parts of the project, in each kinds of change, in each entries.

const partNames = ['Server', 'Console', 'Client', 'Voice', 'Testing'] as const
const kindNames = ['Breaking', 'Deprecated', 'Added', 'Changed', 'Fixed', 'Security'] as const

type PartName = (typeof partNames)[number]
type KindName = (typeof kindNames)[number]

interface Entry {
  readonly part: PartName
  readonly kind: KindName
  readonly text: string
}

export interface Release {
  readonly version: string
  /** `2026-11-15`; undefined as long as it is not released. */
  readonly date: string | undefined
  readonly entries: readonly Entry[]
  /** As it is written, without its heading. */
  readonly text: string
}

interface Changelog {
  readonly releases: readonly Release[]
  /** What is not of the form, with the line. */
  readonly problems: readonly string[]
}

interface Draft {
  version: string
  date: string | undefined
  entries: Entry[]
  lines: string[]
}

const heading = /^(#{2,4}) (.+)$/
const releaseHeading = /^(\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d|Unreleased)\)$/

export function parseChangelog(text: string): Changelog {
  const releases: Draft[] = []
  const problems: string[] = []
  let part: PartName | undefined
  let kind: KindName | undefined
  /** Headings of the release so far: none twice, and in the order of the lists above. */
  let seen: string[] = []
  /** A heading that has no entry yet. */
  let empty: string | undefined

  text.split('\n').forEach((line, index) => {
    const complain = (problem: string) => problems.push(`CHANGELOG.md:${index + 1}: ${problem}`)
    const [, marks, title = ''] = heading.exec(line) ?? []
    const release = releases.at(-1)
    if (marks !== undefined && empty !== undefined && !(marks === '####' && empty === part)) {
      complain(`${empty}, above, has no entry`)
    }
    if (marks === '##') {
      const [, version, date] = releaseHeading.exec(title) ?? []
      if (!version) complain(`"${title}" is not "1.2.3 (2026-11-15)" or "1.2.3 (Unreleased)"`)
      else {
        if (release && compareVersions(version, release.version) >= 0) {
          complain(`${version} is not older than ${release.version}, above`)
        }
        if (release && date === 'Unreleased') complain('only the newest version may be unreleased')
        releases.push({ version, date: date === 'Unreleased' ? undefined : date, entries: [], lines: [] })
      }
      ;[part, kind, seen, empty] = [undefined, undefined, [], undefined]
      return
    }
    release?.lines.push(line)
    if (marks === '###') {
      part = partNames.find((name) => name === title)
      kind = undefined
      if (!part) complain(`"${title}" is not one of ${partNames.join(', ')}`)
      else checkOrder(part, partNames, seen, complain)
      empty = part
    } else if (marks === '####') {
      kind = kindNames.find((name) => name === title)
      if (!part) complain(`${title} belongs under one of ${partNames.join(', ')}`)
      else if (!kind) complain(`"${title}" is not one of ${kindNames.join(', ')}`)
      else
        checkOrder(
          `${part} ${kind}`,
          kindNames.map((name) => `${part} ${name}`),
          seen,
          complain,
        )
      empty = kind && `${part} ${kind}`
    } else if (line.startsWith('- ')) {
      if (!part || !kind) complain('an entry belongs under a part and a kind of change')
      else release?.entries.push({ part, kind, text: line.slice(2) })
      empty = undefined
    } else if (/^\s+\S/.test(line) && release?.entries.length && part && kind) {
      const last = release.entries.pop() as Entry
      release.entries.push({ ...last, text: `${last.text} ${line.trim()}` })
    } else if (line.trim() !== '' && part) {
      complain('a line below a part is a heading, or an entry that begins with "- "')
    }
  })
  if (empty !== undefined) problems.push(`CHANGELOG.md: ${empty}, at the end, has no entry`)
  return {
    releases: releases.map(({ lines, ...release }) => ({ ...release, text: lines.join('\n').trim() })),
    problems,
  }
}

function checkOrder(name: string, order: readonly string[], seen: string[], complain: (problem: string) => void): void {
  const place = order.indexOf(name)
  if (seen.includes(name)) complain(`${name} is there twice`)
  else if (seen.some((one) => order.indexOf(one) > place)) complain(`${name} comes too late: ${order.join(', ')}`)
  seen.push(name)
}

/** Below zero if the first is older. Only numbers: there are no versions like `1.0.0-beta.1`. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number)) as [number[], number[]]
  const place = a.findIndex((number, index) => number !== b[index])
  return place < 0 ? 0 : (a[place] ?? 0) - (b[place] ?? 0)
}

/** What stands in the way of releasing this version, as the changelog is. */
export function checkChangelog(text: string, version: string, needsDate: boolean): string[] {
  const { releases, problems } = parseChangelog(text)
  const [newest] = releases
  if (newest?.version !== version) {
    return [...problems, `CHANGELOG.md: the newest section is ${newest?.version ?? 'not there'}, not ${version}`]
  }
  return [
    ...problems,
    ...(newest.entries.length === 0 ? [`CHANGELOG.md: ${version} has no entries`] : []),
    ...(needsDate && !newest.date ? [`CHANGELOG.md: ${version} has no date: "## ${version} (YYYY-MM-DD)"`] : []),
  ]
}
