import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** How many seconds each test file took the last time, by its path. */
export type Durations = Readonly<Record<string, number>>

const durationsFile = join('node_modules', '.durations')
/** What a file is taken to need that has never run here. Starting a program takes longest. */
const assumedSeconds = { programs: 12, other: 3 }
/** What a process keeps of its files adds up, and one that breaks takes all of them with it. */
const maxFilesInGroup = 16
/** What a process loads takes longer than most test files, so that no group is smaller than this. */
const minGroupSeconds = 20

/** Empty on a new clone, or when the file cannot be read: then durations are assumed. */
export async function readDurations(root: string): Promise<Durations> {
  try {
    return JSON.parse(await readFile(join(root, durationsFile), 'utf8')) as Durations
  } catch {
    return {}
  }
}

/** Keeps what was known of other files. */
export async function keepDurations(root: string, durations: Durations): Promise<void> {
  const known = { ...(await readDurations(root)), ...durations }
  await writeFile(join(root, durationsFile), JSON.stringify(known))
}

/**
 * Divides test files into groups that share a process each, the longest files first. Groups become smaller towards the end, because
 * whatever is started last is waited for while nothing else runs.
 */
export async function groupFiles(root: string, files: readonly string[], atOnce: number): Promise<string[][]> {
  const durations = await readDurations(root)
  const inBrowser: string[] = []
  const others: { file: string; seconds: number }[] = []
  for (const file of files) {
    const text = await readFile(join(root, file), 'utf8')
    if (text.includes('harness/browser')) inBrowser.push(file)
    else others.push({ file, seconds: durations[file] ?? assumedSeconds[startsPrograms(text) ? 'programs' : 'other'] })
  }
  const groups = divide(others, atOnce)
  // What needs a browser comes when there was time to install one.
  return [...groups.slice(0, groups.length / 2), ...inBrowser.map((file) => [file]), ...groups.slice(groups.length / 2)]
}

/** Exported for its test. */
export function divide(files: readonly { file: string; seconds: number }[], atOnce: number): string[][] {
  // Files of one folder are alike: those of the same length are mixed, always in the same way.
  const waiting = files.toSorted(
    (one, other) => other.seconds - one.seconds || hash(one.file).localeCompare(hash(other.file)),
  )
  const groups: string[][] = []
  let left = waiting.reduce((sum, { seconds }) => sum + seconds, 0)
  const least = Math.min(minGroupSeconds, left / atOnce)
  while (waiting.length > 0) {
    const share = Math.max(left / (2 * atOnce), least)
    const group: string[] = []
    let taken = 0
    while (group.length < maxFilesInGroup) {
      const next = waiting[0]
      if (!next || (group.length > 0 && taken + next.seconds > share)) break
      waiting.shift()
      group.push(next.file)
      taken += next.seconds
    }
    groups.push(group)
    left -= taken
  }
  return groups
}

function startsPrograms(text: string): boolean {
  return /harness\/(command|crash|fleet|shell)|fuzz\/(run|server)|soak\/run|sample-project|node:child_process/.test(
    text,
  )
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
