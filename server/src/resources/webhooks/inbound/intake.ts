import { confirmAdmission, transactAdmitted } from '../../../auth/readmission.ts'
import { TrialGate } from '../../../base/work/trial-gate.ts'
import { WorkGroups } from '../../../base/work/work-groups.ts'
import { type Database, DatabaseBusy, type Transaction } from '../../../db/database.ts'
import type { DeliveryMetrics } from '../../../delivery/worker/delivery-metrics.ts'
import type { Caller } from '../../../graph/caller.ts'
import { GraphError } from '../../../graph/graph-error.ts'
import { KnownNumbers } from './known-numbers.ts'
import type { Post, Receipt, Received } from './post.ts'
import { receiveAtOnce } from './receive-at-once.ts'
import { type InboundTools, receivePosts } from './receiver.ts'

/** Takes a post: all of its changes, or none of them, but for messages that are refused each for its own fault, which it returns. */
export type Intake = (post: Post) => Promise<Received['refused']>

declare module '../../../graph/ports.ts' {
  interface Ports {
    /** Opens transactions of its own, which posts of one moment share. */
    readonly takePost: Intake
  }
}

export interface IntakeDeps extends Omit<InboundTools, 'publicUrl'> {
  readonly database: Database
  readonly publicUrl: () => string
  readonly metrics: Pick<DeliveryMetrics, 'countReceived'>
  /** The longest that a post waits for its turn, in milliseconds. */
  readonly timeoutMs: number
  /** The caller as of now; throws if no longer admitted. */
  readonly readmit: (before: Caller) => Promise<Caller>
}

/** Larger posts get a transaction of their own: the others would wait for them. */
const maxSizeInGroup = 32_768

export function makeIntake(deps: IntakeDeps): Intake {
  const take = makeTaking(deps)
  return async (post) => {
    const { fields, refused } = await take(post)
    for (const field of fields) deps.metrics.countReceived(field)
    return refused
  }
}

function makeTaking(deps: IntakeDeps): (post: Post) => Promise<Received> {
  const { database, clock, random, vocabulary, publicUrl, userIds, sealLink } = deps
  const known = new KnownNumbers()
  const optimisticPath = new TrialGate()
  const receive = (tx: Transaction, receipts: readonly Receipt[]) =>
    receivePosts(tx, { clock, random, vocabulary, publicUrl: publicUrl(), userIds, sealLink }, receipts, known)
  const readmit = async ({ caller }: { readonly caller: Caller }) => ({ caller: await deps.readmit(caller) })

  async function takeAlone(post: Post): Promise<Received> {
    const { sender } = post
    if ('signer' in sender) {
      const options = { fairnessKey: sender.signer.app_id }
      return database.transaction(async (tx) => orThrow(await receive(tx, [receiptOf(post)])), options)
    }
    return transactAdmitted(deps, sender, readmit, async (tx, admitted) => {
      const received = orThrow(await receive(tx, [receiptOf(post, admitted.caller)]))
      confirmAdmission(tx, clock, admitted)
      return received
    })
  }

  async function takeTogether(posts: readonly Post[], fairnessKey: string) {
    let isTried = false
    const outcomes = await database.transaction(
      async (tx) => {
        const receipts = posts.map((post) => receiptOf(post))
        // What was tried has failed when it comes to a second run.
        if (isTried) optimisticPath.noteFailure()
        const stored = isTried || !optimisticPath.mayTry() ? undefined : await receiveAtOnce(tx, deps, receipts, known)
        isTried = stored !== undefined
        const outcomes = stored ?? (await receive(tx, receipts))
        const callers = posts.flatMap(({ sender }) => ('caller' in sender ? [sender.caller] : []))
        for (const caller of new Map(callers.map((one) => [one.token_id, one])).values()) {
          confirmAdmission(tx, clock, { caller })
        }
        return outcomes
      },
      { fairnessKey },
    )
    if (isTried) optimisticPath.noteSuccess()
    // A refusal is repeated alone, because a caller who is no longer admitted must learn that first.
    return outcomes.map((outcome) => (outcome instanceof GraphError ? undefined : { outcome }))
  }

  /** A lock that one of them waits for does not delay the others. */
  function isOutage(error: unknown): boolean {
    if (error instanceof DatabaseBusy && error.kind === 'locked') return false
    return database.outageOf(error) !== undefined
  }

  // The embedded store commits concurrent writes together by itself.
  if (database.isEmbedded) return takeAlone
  const groups = new WorkGroups<Post, Received>({
    doAlone: takeAlone,
    doTogether: takeTogether,
    isOutage,
    makeBusy: (kind, message) => new DatabaseBusy(kind, message),
    timeoutMs: deps.timeoutMs,
  })
  return (post) => (post.size > maxSizeInGroup ? takeAlone(post) : groups.take(fairnessKeyOf(post), post))
}

function fairnessKeyOf({ sender }: Post): string {
  return 'signer' in sender ? sender.signer.app_id : sender.caller.app_id
}

function receiptOf({ sender, envelope, write, cause }: Post, caller?: Caller): Receipt {
  if ('signer' in sender) return { accounts: undefined, signer: sender.signer, envelope, write, cause }
  return { accounts: (caller ?? sender.caller).gateway_accounts, envelope, write, cause }
}

/** A refused post rolls back its transaction, so its caller is checked again. */
function orThrow([outcome]: readonly (Received | GraphError)[]): Received {
  if (!outcome || outcome instanceof GraphError) throw outcome ?? new Error('the post was not taken')
  return outcome
}
