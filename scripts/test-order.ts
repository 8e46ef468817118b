import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** How many seconds each test file took the last time, by its path. */
export type Durations = Readonly<Record<string, number>>

const durationsFile = join('node_modules', '.durations')
/** What a file is taken to need that has never run here. Starting a program takes longest. */
const assumedSeconds = { programs: 12, other: 3 }

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

/** Orders test files so that the longest come first: whatever is started last is waited for while nothing else runs. */
export async function orderFiles(root: string, files: readonly string[]): Promise<string[]> {
  const durations = await readDurations(root)
  const inBrowser: string[] = []
  const others: { file: string; seconds: number }[] = []
  for (const file of files) {
    const text = await readFile(join(root, file), 'utf8')
    if (text.includes('harness/browser')) inBrowser.push(file)
    else others.push({ file, seconds: durations[file] ?? assumedSeconds[startsPrograms(text) ? 'programs' : 'other'] })
  }
  const ordered = others
    // Files of one folder are alike: those of the same length are mixed, always in the same way.
    .toSorted((one, other) => other.seconds - one.seconds || hash(one.file).localeCompare(hash(other.file)))
    .map(({ file }) => file)
  // What needs a browser comes when there was time to install one.
  const middle = Math.floor(ordered.length / 2)
  return [...ordered.slice(0, middle), ...inBrowser, ...ordered.slice(middle)]
}

function startsPrograms(text: string): boolean {
  return /harness\/(command|crash|fleet|shell)|fuzz\/(run|server)|soak\/run|sample-project|node:child_process/.test(
    text,
  )
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
