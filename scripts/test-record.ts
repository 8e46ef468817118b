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
}

/** What node:test wraps around whatever a test threw. */
type TestError = Error & { failureType?: string }
/** The names of the suites around a test, the outermost first; the types do not know of it. */
type Details = EventData.TestComplete['details'] & { classname?: string }

/** What the process of a group tells of its tests; each file of the group is a suite at the top. */
export class GroupRecord {
  readonly #results: readonly FileResult[]
  readonly #holders = new Set<string>()
  readonly #running = new Map<number, string>()

  constructor(files: readonly string[]) {
    this.#results = files.map((file) => ({ file, passed: 0, failures: [], seconds: 0, isOver: false }))
  }

  noteStarted({ testId, nesting, name, line, column }: EventData.TestDequeue): void {
    if (nesting > 0) this.#running.set(testId, `${name} (line ${line}:${column})`)
  }

  noteEnded({ testId, name, nesting, line, column, skip, todo, details }: EventData.TestComplete): void {
    const { classname = name, type, duration_ms, error } = details as Details
    const result = this.#results.find(({ file }) => classname === file || classname.startsWith(`${file}.`))
    if (!result) return
    this.#running.delete(testId)
    const isFile = nesting === 0
    const fullName = isFile ? name : `${classname}.${name}`
    // Tests end before what holds them. A test that holds tests is none of its own, but can break by itself, as a suite by its hooks.
    const isHolder = this.#holders.has(fullName)
    if (!isFile) this.#holders.add(classname)
    if (isFile) Object.assign(result, { seconds: duration_ms / 1000, isOver: true })

    const title = isFile ? '(the file)' : `${fullName.slice(result.file.length + 1)} (line ${line}:${column})`
    const fail = (detail: string) => result.failures.push({ title, detail })
    if (isMarked(skip)) fail('It is marked skipped, and a test that does not run counts as failed.')
    else if (isMarked(todo)) fail('It is marked todo, and a test that does not run counts as failed.')
    else if (error) {
      if (!isHolder || (error as TestError).failureType !== 'subtestsFailed') fail(inspect(error.cause ?? error))
    } else if (type === 'suite' && !isHolder) fail('It holds no test that was run.')
    else if (!isHolder) result.passed++
  }

  /** What became of each file, with what went wrong about the process: its code, or why it had to be ended. */
  conclude(code: number | null, fault?: string): readonly FileResult[] {
    const open = this.#results.filter(({ isOver }) => !isOver)
    // A failed test makes the code 1; without one somebody else did.
    const isCodeExplained = code === 0 || this.#results.some(({ failures }) => failures.length > 0)
    const known = fault ?? (isCodeExplained ? undefined : `Its process ended with code ${code}.`)
    const running = [...this.#running.values()].join('; ')
    const detail = `${known ?? 'Its process ended before its tests did.'}${running && ` Not finished: ${running}.`}`
    // Whoever was not over is to blame; if all were, it was one of them that kept the process from ending as it should.
    const culprits = known !== undefined && open.length === 0 ? this.#results : open
    for (const { failures } of culprits) failures.push({ title: '(the file)', detail })
    return this.#results
  }
}

function isMarked(mark: string | boolean | undefined): boolean {
  return mark !== undefined && mark !== false
}
