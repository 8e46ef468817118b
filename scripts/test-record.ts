import type { EventData } from 'node:test'
import { inspect } from 'node:util'

/** What became of one test file: how many of its tests passed, and what is wrong with the others. */
export interface FileResult {
  file: string
  passed: number
  failures: { title: string; detail: string }[]
  seconds: number
  /** Whether its tests came to their end. */
  isOver: boolean
  /** What its process printed, for all of its files: whole when the run is over. */
  output: readonly string[]
}

/** What node:test wraps around whatever a test threw. */
type TestError = Error & { failureType?: string }
/** The names of the suites around a test, the outermost first; the types do not know of it. */
type Details = EventData.TestComplete['details'] & { classname?: string }

/** The events of a process that runs test files one after the other; each file is a suite at the top. */
export class ProcessRecord {
  readonly #holders = new Set<string>()
  readonly #running = new Map<number, string>()
  readonly #over: string[] = []
  #hasFailures = false
  readonly #output: string[] = []
  #current = this.#begin()

  #begin(): FileResult {
    return { file: '', passed: 0, failures: [], seconds: 0, isOver: false, output: this.#output }
  }

  noteStarted({ testId, nesting, name, line, column }: EventData.TestDequeue): void {
    if (nesting > 0) this.#running.set(testId, `${name} (line ${line}:${column})`)
  }

  noteOutput(text: string): void {
    this.#output.push(text)
  }

  /** Returns the result of a file when that was its end. */
  noteEnded(test: EventData.TestComplete): FileResult | undefined {
    this.#running.delete(test.testId)
    const isFile = test.nesting === 0
    this.#countTest(test, isFile)
    if (!isFile) return undefined
    const result = { ...this.#current, file: test.name, seconds: test.details.duration_ms / 1000, isOver: true }
    this.#over.push(result.file)
    this.#holders.clear()
    this.#current = this.#begin()
    return result
  }

  #countTest({ name, line, column, skip, todo, details }: EventData.TestComplete, isFile: boolean): void {
    const { classname = name, type, error } = details as Details
    const fullName = isFile ? name : `${classname}.${name}`
    // Tests end before what holds them. A test that holds tests is none of its own, but can break by itself, as a suite by its hooks.
    const isHolder = this.#holders.has(fullName)
    if (!isFile) this.#holders.add(classname)

    const fail = (detail: string) => {
      this.#hasFailures = true
      const position = `(line ${line}:${column})`
      this.#current.failures.push({ title: isFile ? '(the file)' : `${fullName} ${position}`, detail })
    }
    if (isMarked(skip)) fail('It is marked skipped, and a test that does not run counts as failed.')
    else if (isMarked(todo)) fail('It is marked todo, and a test that does not run counts as failed.')
    else if (error) {
      if (!isHolder || (error as TestError).failureType !== 'subtestsFailed') fail(inspect(error.cause ?? error))
    } else if (type === 'suite' && !isHolder) fail('It holds no test that was run.')
    else if (!isHolder) this.#current.passed++
    // The path of the file is known at its end, and stands before all names.
    if (isFile) for (const failure of this.#current.failures) failure.title = withoutPrefix(failure.title, `${name}.`)
  }

  /**
   * The file that was not over when the process ended, which took `taken`, with what is wrong about its end: its code, or why it
   * had to be killed. If all were over, one of them kept the process from ending as it should.
   */
  conclude(taken: readonly string[], code: number | null, fault?: string): FileResult | undefined {
    // A failed test makes the code 1; without one somebody else did.
    const isCodeExplained = code === 0 || this.#hasFailures
    const known = fault ?? (isCodeExplained ? undefined : `Its process ended with code ${code}.`)
    const open = taken.find((file) => !this.#over.includes(file))
    if (open === undefined && known === undefined) return undefined
    const running = [...this.#running.values()].join('; ')
    const detail = `${known ?? 'Its process ended before its tests did.'}${running && ` Not finished: ${running}.`}`
    const file = open ?? taken.join(', ')
    const { failures } = this.#current
    for (const failure of failures) failure.title = withoutPrefix(failure.title, `${file}.`)
    return { ...this.#current, file, failures: [...failures, { title: '(the file)', detail }] }
  }
}

function withoutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text
}

function isMarked(mark: string | boolean | undefined): boolean {
  return mark !== undefined && mark !== false
}
