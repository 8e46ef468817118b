import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

/** What a test file's process tells the run about one of its tests: a line of JSON for each. */
export type TestRecord =
  | { kind: 'known'; id: number; parent: number; name: string; place: string }
  | { kind: 'started'; id: number }
  | {
      kind: 'ended'
      id: number
      isSuite: boolean
      passed: boolean
      notRun?: 'skipped' | 'todo'
      reason: string
      failure: string
      milliseconds: number
    }
  | { kind: 'complete' }

/** What node:test wraps around whatever a test threw. */
interface TestError extends Error {
  failureType?: string
}

/**
 * A reporter for node:test that runs inside the process of one test file. Each line is written as the thing happens, so that a
 * process that hangs or dies leaves behind what it was at.
 */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    const record = toRecord(event)
    if (record) yield `${JSON.stringify(record)}\n`
  }
}

function toRecord({ type, data }: TestEvent): TestRecord | undefined {
  switch (type) {
    case 'test:enqueue':
      return {
        kind: 'known',
        id: data.testId,
        parent: data.parentId ?? 0,
        name: data.name,
        place: `${data.line}:${data.column}`,
      }
    case 'test:dequeue':
      return { kind: 'started', id: data.testId }
    case 'test:pass':
    case 'test:fail': {
      const error = 'error' in data.details ? (data.details.error as TestError) : undefined
      return {
        kind: 'ended',
        id: data.testId,
        isSuite: data.details.type === 'suite',
        passed: type === 'test:pass',
        ...(isSet(data.skip) && { notRun: 'skipped' }),
        ...(isSet(data.todo) && { notRun: 'todo' }),
        reason: error?.failureType ?? '',
        failure: error ? inspect(error.cause ?? error) : '',
        milliseconds: data.details.duration_ms,
      }
    }
    // Comes when nothing is left to do, so not after process.exit() and not while something keeps the process alive.
    case 'test:summary':
      return { kind: 'complete' }
  }
}

function isSet(mark: string | boolean | undefined): boolean {
  return mark !== undefined && mark !== false
}
