/** Work of a transaction that goes on while something else does, by line: when that fails, the work outlives the transaction. */
export interface Branch {
  readonly line: number
  readonly text: string
}

/** The names that transactions, and what may be one, have everywhere. */
const names = /(?<![\w.$])(?:tx|db)\b(?!:)/
const together = /\bPromise\s*\.\s*(?:all|allSettled|race|any)\s*\(/g
const dropped = /(?<![=:|<,]\s?)\bvoid (?=[\w.]+\()/g
/** What ends a line that the next one belongs to. */
const goesOn = /(?:[(,=[?:|&+]|=>|\b(?:await|return))$/
const declared = /\basync function (\w+)|\bfunction (\w+)\([^)]*\): Promise</g
const imported = /^import \{([^}]+)\}/gm
const asks = /^(?:tx|db)\.(?:first|list|query)\b|^(?:const|let) [^=]+ = tx\.(?:first|list)\b/
const called = /^(?:(?:const|let) [^=]+ = )?(\w+)\(/

/** The functions that a source declares and that return promises. */
export function listAsyncFunctions(source: string): string[] {
  return [...source.matchAll(declared)].map(([, one, other]) => (one ?? other) as string)
}

/** The names that a source imports. */
export function listImports(source: string): string[] {
  return [...source.matchAll(imported)].flatMap(([, list = '']) => list.split(',').map((name) => name.trim()))
}

/**
 * Finds what is done together (`Promise.all` and its like) or without being awaited, with a transaction among its parameters. `isAsync`
 * says of a function whether it returns a promise.
 */
export function findBranches(source: string, isAsync: (name: string) => boolean): Branch[] {
  const found = [...source.matchAll(together), ...source.matchAll(dropped)]
    .filter(({ index, 0: { length } }) => namesTransaction(callAt(source, index + length)))
    .map(({ index }) => ({
      line: source.slice(0, index).split('\n').length,
      text: source.slice(index).split('\n', 1)[0] as string,
    }))
  const lines = source.split('\n').map((line) => line.trim())
  let at = 0
  for (const [index, text] of source.split('\n').entries()) {
    const line = lines[index] as string
    const before =
      lines.slice(0, index).findLast((one) => one !== '' && !one.startsWith('//') && !one.startsWith('*')) ?? ''
    const name = called.exec(line)?.[1]
    const isAsked = asks.test(line) || (name !== undefined && isAsync(name) && namesTransaction(callAt(source, at)))
    if (isAsked && !goesOn.test(before)) found.push({ line: index + 1, text: line })
    at += text.length + 1
  }
  return found
}

function namesTransaction(text: string): boolean {
  return names.test(text)
}

/** From a place to the end of the first parentheses that are opened from there on, or of those that were opened just before. */
function callAt(source: string, start: number): string {
  let depth = source[start - 1] === '(' ? 1 : 0
  for (let at = start; at < source.length; at++) {
    if (source[at] === '(') depth += 1
    else if (source[at] === ')' && --depth <= 0) return source.slice(start, at)
  }
  return source.slice(start)
}
