import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

/** A place in a packed file (scripts/pack.mjs), of a clone or of the package, as stacks write it. */
const packedPlace =
  /(?<file>file:\/\/[^\s()]*\/(?:\.packed|@switchboard\/server\/dist)\/[^\s():]+\.js):(?<line>\d+):(?<column>\d+)/g

/** A stack with the places of the sources instead of those of packed files. Maps are read when an error is logged, not before. */
export function nameSources(stack: string): string {
  const maps = new Map<string, SourceMap | undefined>()
  return stack.replaceAll(packedPlace, (place, file: string, line: string, column: string) => {
    if (!maps.has(file)) maps.set(file, readMap(file))
    const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (!entry || !('originalSource' in entry)) return place
    return `${new URL(entry.originalSource, file).href}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  })
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${file}.map`), 'utf8')))
  } catch {
    // A newer version was packed meanwhile: then the places of the packed file have to do.
    return undefined
  }
}
