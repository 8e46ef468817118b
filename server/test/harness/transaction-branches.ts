/**
 * A place where work of a transaction may go on while something else does, by line: when that fails, the work outlives the transaction.
 * What nobody awaits at all is not searched for here: the linter's `noFloatingPromises` knows the types.
 */
export interface Branch {
  readonly line: number
  readonly text: string
}

/** The names that transactions, what may be one, and what may hold one have everywhere. */
const names = /(?<![\w.$])(?:tx|db|query|context)\b(?!:)/
const joined = /\bPromise\s*(?:\.\s*(?:all|allSettled|race|any)\b|\[)|\{[^{}\n]*\}\s*=\s*Promise\b(?!\s*\.)/g
const dropped = /(?<![=:|<,]\s?)\bvoid (?=[\w.#]+\()/g
const mapped = /\.\s*(?:map|flatMap|forEach|from)\(/g
const declared =
  /\basync function (\w+)|\bfunction (\w+)\([^)]*\): Promise<|\bconst (\w+) = async\b|^ {2}async (#?\w+)\(/gm
const imported = /^import \{([^}]+)\}/gm
const kept = /^[ \t]*(?:const|let) [^=\n]+ =(?!>)(?!\s*await\b)\s*/gm
const asks = /^(?:[\w#]+\.)*(?:tx|db)\.(?:first|list)\(/
/** Statements of the embedded database have their rows at once. */
const isAtOnce = /\bStepRunner\b|\bdefineWithSteps\b|\bSteps</
const makesFunctions = /^\(?[^=]*\)? => (?:async )?\(.*\) =>/
const executes = /\.execute\w*\(\)$/
const called = /^(?:this\.)?(#?\w+)\(/
const calls = /(?<![\w$])(?:this\.)?(#?\w+)\(/g

/** The functions and methods that a source declares and that return promises. */
export function listAsyncFunctions(source: string): string[] {
  return [...source.matchAll(declared)].map((match) => match.slice(1).find((name) => name !== undefined) as string)
}

/** The names that a source imports. */
export function listImports(source: string): string[] {
  return [...source.matchAll(imported)].flatMap(([, list = '']) => list.split(',').map((name) => name.trim()))
}

/** Everything that is done together: `Promise.all` and its like, whatever is in it. */
export function findJoins(source: string): Branch[] {
  return [...source.matchAll(joined)].map(({ index }) => branchAt(source, index))
}

/**
 * Finds what is begun with a transaction among its parameters and awaited only later, or dropped: a promise that is kept in a variable, a
 * list of promises, `void`. `isAsync` says of a function whether it returns a promise.
 */
export function findBranches(source: string, isAsync: (name: string) => boolean): Branch[] {
  const found: number[] = []
  for (const { index, 0: text } of source.matchAll(dropped)) {
    if (names.test(callAt(source, index + text.length))) found.push(index)
  }
  for (const { index, 0: text } of source.matchAll(mapped)) {
    const call = callAt(source, index + text.length)
    if (names.test(call) && beginsWork(call, isAsync)) found.push(index)
  }
  for (const { index, 0: text } of source.matchAll(kept)) {
    const value = valueAt(source, index + text.length)
    const name = called.exec(value)?.[1]
    const isBegun =
      (asks.test(value) && !isAtOnce.test(source)) ||
      (names.test(value) && (executes.test(value) || (name && isAsync(name))))
    if (isBegun && !/^(?:async\b|\(?[^()]*\)? =>)/.test(value)) found.push(index + text.search(/\S/))
  }
  return found.sort((one, other) => one - other).map((index) => branchAt(source, index))
}

/** Whether what is called for each of a list is begun there, and not awaited. */
function beginsWork(call: string, isAsync: (name: string) => boolean): boolean {
  if (makesFunctions.test(call)) return false
  if (/^async\b/.test(call) || /\.execute\w*\(\)/.test(call)) return true
  return [...call.matchAll(calls)].some(({ index, 1: name = '' }) => {
    const before = call.slice(0, index)
    // A function within the one that is called for each is begun by somebody else.
    const isPassedOn = / => $/.test(before) && before.split('=>').length > 2
    return isAsync(name) && !isPassedOn && !/(?:await|function) $/.test(before)
  })
}

function branchAt(source: string, index: number): Branch {
  const text = source.slice(index).split('\n', 1)[0] as string
  return { line: source.slice(0, index).split('\n').length, text: text.trim() }
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

/** From a place to the end of its statement: the first line end outside of brackets after which no member is asked for. */
function valueAt(source: string, start: number): string {
  let depth = 0
  for (let at = start; at < source.length; at++) {
    const sign = source[at] as string
    if ('([{'.includes(sign)) depth += 1
    else if (')]}'.includes(sign)) depth -= 1
    if (depth < 0 || (depth === 0 && sign === '\n' && !/^\s*[.?:&|+]/.test(source.slice(at)))) {
      return source.slice(start, at).trim()
    }
  }
  return source.slice(start).trim()
}
