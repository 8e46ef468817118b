import { authenticate } from '../auth/bearer.ts'
import { isDemoAppSecret } from '../auth/demo.ts'
import { RecentlyVerifiedCallers } from '../auth/recently-verified-callers.ts'
import type { Random } from '../base/keys/random.ts'
import { CpuBudget } from '../base/work/cpu-budget.ts'
import { YieldingTask } from '../base/work/yielding-task.ts'
import type { InboundAdmission } from '../chapter.ts'
import { readHubSignature } from '../delivery/post/sign.ts'
import type { Caller, Sender } from '../graph/caller.ts'
import { invalidSignature } from '../graph/errors.ts'
import { GraphError } from '../graph/graph-error.ts'
import type { AdmissionProgress, DoorPolicy, GraphRequest } from '../http/admission.ts'
import { mediaTypeOf, parseJson, readBytes, readJson, refuseContentType } from '../http/body/body.ts'
import type { UnauthenticatedBodies } from '../http/body/unauthenticated-bodies.ts'
import type { PipelineDeps } from '../http/pipeline-deps.ts'
import type { PreparedRow } from '../http/route-table.ts'
import { checkScope } from './scoped.ts'

const noHeaders = {}
/** Of a process, for hashing the bodies of strangers; receiving them takes about as much again. */
const shareOfTime = 0.1

export interface ReceiverDoorOptions {
  readonly admission: InboundAdmission
  readonly random: Random
  readonly maxBodyBytes: number
  readonly unauthenticatedBodies: UnauthenticatedBodies
}

/** A body with who sends it. */
interface SentBytes {
  readonly sender: Sender
  readonly bytes: Buffer
  /** Set for a caller who was verified recently: looks the token up. */
  readonly confirm?: (() => Promise<Caller>) | undefined
}

/** Larger bodies are read only after a look-up. */
const maxRecentlyVerifiedBytes = 32_768

/**
 * `POST /{product}/webhooks`: the network's edge, handing in events for an account, by a token with the scope `gateway` or by the
 * signature of an app that is linked to every account in the post. The proof comes first: a token is looked up (401, 403) before any
 * byte is read, and a signature checked (401) before any byte is parsed. Then content type and JSON (400), and at last whether the
 * signer may hand in for all the accounts (401). On PostgreSQL a token that was good a moment ago is looked up only when the post is
 * refused for another reason; a post that is stored checks it in its transaction.
 */
export function makeReceiverDoor({
  admission,
  random,
  maxBodyBytes,
  unauthenticatedBodies,
}: ReceiverDoorOptions): DoorPolicy {
  const nobodysSecret = random.bytes(32).toString('hex')
  const hashingTime = new CpuBudget(shareOfTime)
  const recentlyVerified = new RecentlyVerifiedCallers()

  async function readWithToken(
    deps: PipelineDeps,
    request: GraphRequest,
    progress: AdmissionProgress,
  ): Promise<SentBytes> {
    if (deps.database.isEmbedded) {
      const caller = await authenticate(deps, request)
      checkGateway(caller)
      progress.caller = caller
      return {
        sender: { caller },
        bytes: await readBytes(request.raw, maxBodyBytes, deps.bodyBudget.open(caller.token_id)),
      }
    }
    const find = () => recentlyVerified.find(deps, request, checkGateway)
    const isShort = Number(request.headers['content-length'] ?? Number.NaN) <= maxRecentlyVerifiedBytes
    const recalled = isShort ? recentlyVerified.recall(deps, request) : undefined
    const caller = recalled ?? (await find())
    // Whoever is refused while the body arrives is no stranger.
    progress.caller = caller
    const bytes = await readBytes(request.raw, maxBodyBytes, deps.bodyBudget.open(caller.token_id))
    return { sender: { caller }, bytes, confirm: recalled && find }
  }

  /** Whoever is refused here has cost so many bytes; whoever was refused too often costs none. */
  async function readSigned(deps: PipelineDeps, request: GraphRequest, header: string): Promise<SentBytes> {
    const { database, clock, realClock, guesses } = deps
    const { raw, headers, remote_address: address } = request
    guesses.refuse(address)
    const mayUseDemo = deps.mayUseDemo(raw)
    const signature = readHubSignature(header)
    if (!signature) {
      guesses.noteWrong(address)
      throw invalidSignature()
    }
    const body = unauthenticatedBodies.open(raw, address, maxBodyBytes)
    const isTaken = (secret: string) => mayUseDemo || !isDemoAppSecret(secret)
    const proof = admission.openSignedBody({
      db: database.read,
      clock,
      signature,
      isTaken,
      time: hashingTime,
      nobodysSecret,
    })
    try {
      await body.read((bytes) => proof.write(bytes))
      const app = await proof.end()
      if (!app) throw invalidSignature()
      const bytes = body.take()
      return {
        sender: { signer: admission.identifySigner(database.read, { clock, realClock }, app, { headers, bytes }) },
        bytes,
      }
    } catch (error) {
      // A fault of our own is nobody's guess.
      if (error instanceof GraphError) guesses.noteWrong(address, { bytes: body.costInBytes + proof.hashedBytes })
      throw error
    } finally {
      body.release()
    }
  }

  return {
    readsBody: true,

    async admit(deps, route, request, progress) {
      const row = route.rows.get(undefined) as PreparedRow
      progress.row = row
      const { authorization, 'x-hub-signature-256': signature, 'content-type': contentType } = request.headers
      const isSigned = authorization === undefined && typeof signature === 'string'
      const { sender, bytes, confirm } = isSigned
        ? await readSigned(deps, request, signature)
        : await readWithToken(deps, request, progress)
      const caller = 'caller' in sender ? sender.caller : undefined
      progress.caller = 'caller' in sender ? sender.caller : sender.signer

      // A large post is worked through in several turns.
      const task = new YieldingTask()
      let text: string
      let values: Record<string, unknown>
      try {
        if (mediaTypeOf(contentType) !== 'application/json') throw refuseContentType(contentType, 'application/json')
        text = readJson(bytes, admission.bounds)
        await task.yieldIfDue()
        values = parseJson(text)
        await task.yieldIfDue()
      } catch (error) {
        await confirm?.()
        throw error
      }
      // The signer was looked for among the apps of the first account; only now is it known which others there are.
      if ('signer' in sender && !(await admission.isLinkedToAll(deps.database.read, sender.signer.app_id, values))) {
        deps.guesses.noteWrong(request.remote_address)
        throw invalidSignature()
      }
      const post = { sender, text, size: bytes.length, task }
      return { row, caller, node: undefined, headers: noHeaders, sources: [{ typed: true, values }], post, confirm }
    },
  }
}

function checkGateway(caller: Caller): void {
  checkScope(caller, 'gateway')
}
