import type pg from 'pg'
import type { Done } from '../../base/work/work-groups.ts'
import { TransactionEnded } from '../database.ts'
import type { Together } from '../statement.ts'
import type { StatementResult } from './batch.ts'
import type { PipelinedTransaction } from './pipelined-transaction.ts'
import type { BoundQuery, PostgresStatements } from './postgres-statements.ts'
import type { TransactionPipeline } from './postgres-transaction.ts'

/** One of the works that are done in one transaction. */
export interface GroupedWork<Work> {
  readonly work: Work
  /** What it holds: works that hold the same are done one after the other. */
  readonly holds: string
}

/** A statement that is not sent yet. */
interface Step {
  readonly query: pg.QueryConfig | BoundQuery
  readonly isLock?: boolean
  readonly take?: ((result: StatementResult) => void) | undefined
}

type AnyTogether = Together<object, object>

/**
 * Does several works in one transaction: what they send at the same moment goes as one batch, and statements that are the same as one.
 * So a group costs about as many statements, and waits for the disk as often, as one of its works. All of them go on until each waits
 * for rows or has ended; then what they have to send is sent.
 */
export class GroupTransaction {
  readonly #pipeline: PipelinedTransaction
  readonly #statements: PostgresStatements
  #members: Member[] = []
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
    // In a fixed order of what they hold, so that two groups do not wait for each other.
    const byHold = [...Map.groupBy(works.entries(), ([, { holds }]) => holds)].sort(([one], [other]) =>
      one < other ? -1 : 1,
    )
    const rows = byHold.map(([, ofOne]) => ({ ofOne, member: new Member(this.#pipeline, () => this.#sendIfAllWait()) }))
    this.#members = rows.map(({ member }) => member)
    const branches = rows.map(async ({ ofOne, member }) => {
      for (const [index, { work }] of ofOne) {
        try {
          done[index] = { outcome: await perform(work, member) }
        } catch (error) {
          if (member.hasWritten) this.#fail(error)
          done[index] = { error }
        }
        if (this.#failure) break
      }
      member.end()
      this.#sendIfAllWait()
    })
    await Promise.all(branches)
    if (this.#failure) throw this.#failure.error
    for (const { query, isLock, take } of this.#takeSteps()) this.#hold(query, isLock, take)
    return done
  }

  #sendIfAllWait(): void {
    if (this.#failure) this.#fail(this.#failure.error)
    const going = this.#members.filter(({ hasEnded }) => !hasEnded)
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
    for (const { query, isLock, take } of steps.slice(0, -1)) this.#hold(query, isLock, take)
    const last = steps.at(-1) as Step
    last.take?.(await this.#pipeline.query(last.query))
  }

  /** Whoever waits for rows gets none. */
  #fail(error: unknown): void {
    this.#failure ??= { error }
    for (const member of this.#members) member.fail(this.#failure.error)
  }

  #hold(query: pg.QueryConfig, isLock: boolean | undefined, take: Step['take']): void {
    if (isLock) this.#pipeline.lock(query)
    else this.#pipeline.defer(query, take ?? ignore)
  }

  /** What all have to send, each in its order, with one step for statements that may be one. */
  #takeSteps(): Step[] {
    const joined: Step[][] = []
    for (const member of this.#members) {
      let next = 0
      for (const step of member.takeSteps()) {
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
    const { statement, isRequired } = first.query as BoundQuery
    const { together } = statement as unknown as { readonly together: AnyTogether }
    const all = steps.map(({ query }) => (query as BoundQuery).parameters)
    const parameters = together.join(all)
    const query = isRequired
      ? this.#statements.prepareRequired(together.statement, parameters)
      : this.#statements.prepare(together.statement, parameters)
    const take = (result: StatementResult) => {
      const parts = together.split?.(result.rows, all)
      for (const [index, step] of steps.entries())
        step.take?.({ ...result, rows: [...(parts?.[index] ?? [])] as never })
    }
    return { query, take }
  }
}

function mayJoin(one: Step, other: Step): boolean {
  if (one.isLock || other.isLock || !('statement' in one.query) || !('statement' in other.query)) return false
  const { statement, parameters, isRequired } = one.query
  if (statement !== other.query.statement || isRequired !== other.query.isRequired) return false
  const together = statement.together as AnyTogether | undefined
  return together !== undefined && (together.mayJoin?.(parameters, other.query.parameters) ?? true)
}

const ignore = (): void => {}

/** What the works see that hold the same: one after the other. */
class Member implements TransactionPipeline {
  readonly #pipeline: PipelinedTransaction
  readonly #onWait: () => void
  #steps: Step[] = []
  readonly #rejects = new Set<(error: unknown) => void>()
  /** Whether something that it waits for is yet to be sent. */
  isWaiting = false
  hasEnded = false
  hasWritten = false

  constructor(pipeline: PipelinedTransaction, onWait: () => void) {
    this.#pipeline = pipeline
    this.#onWait = onWait
  }

  query(query: pg.QueryConfig): Promise<StatementResult> {
    const { promise, resolve, reject } = Promise.withResolvers<StatementResult>()
    this.#rejects.add(reject)
    const take = (result: StatementResult) => {
      this.#rejects.delete(reject)
      resolve(result)
    }
    this.#add({ query, take })
    this.isWaiting = true
    this.#onWait()
    return promise
  }

  run(query: pg.QueryConfig): void {
    this.hasWritten = true
    this.#add({ query })
  }

  lock(query: pg.QueryConfig): void {
    this.hasWritten = true
    this.#add({ query, isLock: true })
  }

  /** The group fails where the statement finds nothing; done alone, the work fails with its own error. */
  require(query: pg.QueryConfig): void {
    this.run(query)
  }

  defer(query: pg.QueryConfig, take: (result: StatementResult) => void): void {
    this.#add({ query, take })
  }

  checkNotOver(): void {
    this.#pipeline.checkNotOver()
  }

  runScript(): Promise<void> {
    return Promise.reject(new Error('a script is run in a transaction of its own'))
  }

  takeSteps(): Step[] {
    const steps = this.#steps
    this.#steps = []
    this.isWaiting = false
    return steps
  }

  fail(error: unknown): void {
    for (const reject of this.#rejects) reject(error)
    this.#rejects.clear()
    this.isWaiting = false
  }

  end(): void {
    this.hasEnded = true
  }

  #add(step: Step): void {
    if (this.hasEnded) throw new TransactionEnded()
    this.#steps.push(step)
  }
}
