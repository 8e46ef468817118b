import type pg from 'pg'
import type { Done } from '../../base/work/work-groups.ts'
import { TransactionEnded } from '../database.ts'
import type { Together } from '../statement.ts'
import type { StatementResult } from './batch.ts'
import type { PipelinedTransaction } from './pipelined-transaction.ts'
import { BoundQuery, type PostgresStatements } from './postgres-statements.ts'
import type { TransactionPipeline } from './postgres-transaction.ts'

/** One of the works that are done in one transaction. */
export interface GroupedWork<Work> {
  readonly work: Work
  /** What it holds: works that hold the same are done one after the other. */
  readonly holds: string
}

/** A statement that is not sent yet. */
interface Step {
  readonly query: pg.QueryConfig
  readonly take: (result: StatementResult) => void
}

/**
 * Does several works in one transaction: what they send at the same moment goes as one batch, and statements that are the same as one.
 * So a group costs about as many statements, and waits for the disk as often, as one of its works. All of them go on until each waits
 * for rows or has ended; then what they have to send is sent.
 */
export class GroupTransaction {
  readonly #pipeline: PipelinedTransaction
  readonly #statements: PostgresStatements
  #lines: readonly Line[] = []
  #isSending = false
  #failure: { readonly error: unknown } | undefined

  constructor(pipeline: PipelinedTransaction, statements: PostgresStatements) {
    this.#pipeline = pipeline
    this.#statements = statements
  }

  /**
   * Returns what became of each work, in their order; what is left to send goes with the commit. A work that throws before it has
   * written is refused alone; after that the whole group fails, so that nothing half done stays.
   */
  async run<Work, Outcome>(
    works: readonly GroupedWork<Work>[],
    perform: (work: Work, pipeline: TransactionPipeline) => Promise<Outcome>,
  ): Promise<Done<Outcome>[]> {
    const done: Done<Outcome>[] = []
    const byHold = Map.groupBy(works.entries(), ([, { holds }]) => holds)
    // In a fixed order, so that two groups do not wait for each other.
    const lines = [...byHold.keys()].sort().map((holds) => ({ ofLine: byHold.get(holds) ?? [], line: new Line() }))
    this.#lines = lines.map(({ line }) => line)
    const branches = lines.map(async ({ ofLine, line }) => {
      for (const [index, { work }] of ofLine) {
        if (this.#failure) break
        const member = new Member(this.#pipeline, line, () => this.#sendIfAllWait())
        try {
          done[index] = { outcome: await perform(work, member) }
        } catch (error) {
          if (member.hasWritten) this.#fail(error)
          done[index] = { error }
        }
        member.end()
      }
      line.hasEnded = true
      this.#sendIfAllWait()
    })
    await Promise.all(branches)
    if (this.#failure) throw this.#failure.error
    for (const { query, take } of this.#takeSteps()) this.#pipeline.defer(query, take)
    return done
  }

  #sendIfAllWait(): void {
    if (this.#failure) this.#fail(this.#failure.error)
    const going = this.#lines.filter(({ hasEnded }) => !hasEnded)
    if (this.#isSending || going.length === 0 || !going.every(({ isWaiting }) => isWaiting)) return
    this.#isSending = true
    this.#send(this.#takeSteps())
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#isSending = false
        this.#sendIfAllWait()
      })
  }

  async #send(steps: readonly Step[]): Promise<void> {
    for (const { query, take } of steps.slice(0, -1)) this.#pipeline.defer(query, take)
    const last = steps.at(-1) as Step
    last.take(await this.#pipeline.query(last.query))
  }

  /** Whoever waits for rows gets none: all of it is rolled back. */
  #fail(error: unknown): void {
    this.#failure ??= { error }
    for (const line of this.#lines) line.fail()
  }

  /** What all have to send, that of each in its order, with one step for statements that may be one. */
  #takeSteps(): Step[] {
    const joined: Step[][] = []
    for (const line of this.#lines) {
      let next = 0
      for (const step of line.takeSteps()) {
        const found = joined.findIndex((steps, index) => index >= next && mayJoin(steps[0] as Step, step))
        if (found === -1) joined.splice(next, 0, [step])
        else joined[found]?.push(step)
        next = (found === -1 ? next : found) + 1
      }
    }
    return joined.map((steps) => this.#join(steps))
  }

  #join(steps: readonly Step[]): Step {
    const [first] = steps as [Step]
    if (steps.length === 1) return first
    const { together, isRequired } = first.query as JoinableQuery
    const all = steps.map(({ query }) => (query as JoinableQuery).parameters)
    const [statement, parameters] = [together.statement, together.join(all)]
    const query = isRequired
      ? this.#statements.prepareRequired(statement, parameters)
      : this.#statements.prepare(statement, parameters)
    const take = (result: StatementResult) => {
      const parts = together.split?.(result.rows, all)
      for (const [index, step] of steps.entries())
        step.take({ ...result, rows: [...(parts?.[index] ?? [])] as StatementResult['rows'] })
    }
    return { query, take }
  }
}

function mayJoin({ query: one }: Step, { query: other }: Step): boolean {
  if (!isJoinable(one) || !isJoinable(other)) return false
  if (one.statement !== other.statement || one.isRequired !== other.isRequired) return false
  return one.together.mayJoin?.(one.parameters, other.parameters) ?? true
}

type JoinableQuery = BoundQuery & { readonly together: Together<object, object> }

function isJoinable(query: pg.QueryConfig): query is JoinableQuery {
  return query instanceof BoundQuery && query.together !== undefined
}

/** What the works that hold the same have to send, in their order. */
class Line {
  #steps: Step[] = []
  readonly #rejects = new Set<(error: Error) => void>()
  /** Whether something that it waits for is yet to be sent. */
  isWaiting = false
  hasEnded = false

  add(step: Step): void {
    this.#steps.push(step)
  }

  ask(query: pg.QueryConfig): Promise<StatementResult> {
    const { promise, resolve, reject } = Promise.withResolvers<StatementResult>()
    this.#rejects.add(reject)
    const take = (result: StatementResult) => {
      this.#rejects.delete(reject)
      resolve(result)
    }
    this.add({ query, take })
    this.isWaiting = true
    return promise
  }

  takeSteps(): Step[] {
    const steps = this.#steps
    this.#steps = []
    this.isWaiting = false
    return steps
  }

  fail(): void {
    for (const reject of this.#rejects) reject(new TransactionEnded())
    this.#rejects.clear()
    this.isWaiting = false
  }
}

const readPattern = /^\s*select\b/i
const ignore = (): void => {}

/** What one work sees. */
class Member implements TransactionPipeline {
  readonly #pipeline: PipelinedTransaction
  readonly #line: Line
  readonly #onWait: () => void
  #hasEnded = false
  hasWritten = false

  constructor(pipeline: PipelinedTransaction, line: Line, onWait: () => void) {
    this.#pipeline = pipeline
    this.#line = line
    this.#onWait = onWait
  }

  async query(query: pg.QueryConfig): Promise<StatementResult> {
    this.#note(query)
    const asked = this.#line.ask(query)
    this.#onWait()
    return asked
  }

  run(query: pg.QueryConfig): void {
    this.defer(query, ignore)
  }

  /** The group fails where the statement finds nothing; done alone, the work fails with its own error. */
  require(query: pg.QueryConfig): void {
    this.run(query)
  }

  defer(query: pg.QueryConfig, take: Step['take']): void {
    this.#note(query)
    this.#line.add({ query, take })
  }

  checkNotOver(): void {
    this.#pipeline.checkNotOver()
  }

  runScript(): Promise<void> {
    return Promise.reject(new Error('a script is run in a transaction of its own'))
  }

  end(): void {
    this.#hasEnded = true
  }

  #note({ text }: pg.QueryConfig): void {
    if (this.#hasEnded) throw new TransactionEnded()
    this.hasWritten ||= !readPattern.test(text)
  }
}
