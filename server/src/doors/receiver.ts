import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authenticate, authenticateAgain } from '../auth/bearer.ts'
import { isDemoAppSecret } from '../auth/demo.ts'
import { LongTask } from '../base/long-task.ts'
import { TimeShare } from '../base/time-share.ts'
import type { DeliveryMetrics } from '../delivery/metrics.ts'
import { readHubSignature } from '../delivery/sign.ts'
import { badArgument } from '../graph/define-error.ts'
import { invalidSignature } from '../graph/errors.ts'
import { GraphError } from '../graph/graph-error.ts'
import { parseJson, readBytes, readJson, refuseContentType } from '../http/body.ts'
import { writeJson } from '../http/json.ts'
import type { PipelineDeps } from '../http/pipeline-deps.ts'
import type { UnprovenBodies } from '../http/unproven-bodies.ts'
import { type Envelope, makeEnvelopeCheck } from '../resources/webhooks/envelope.ts'
import { eventBounds } from '../resources/webhooks/envelope-schemas.ts'
import { keepNumbers } from '../resources/webhooks/exact-json.ts'
import { makeIntake } from '../resources/webhooks/intake.ts'
import type { Post, Sender } from '../resources/webhooks/post.ts'
import { isVerifyToken } from '../resources/webhooks/receiver.ts'
import { SignedBody } from '../resources/webhooks/signed-body.ts'
import { identifySigner, isLinkedToAll } from '../resources/webhooks/signed-post.ts'
import { hubModeWrong, questionRequired, verifyTokenUnknown } from './errors.ts'
import { checkScope } from './gateway.ts'

/** Of a process, for hashing the bodies of strangers; receiving them takes about as much again. */
const shareOfTime = 0.1

export interface ReceiverDeps
  extends Pick<PipelineDeps, 'database' | 'clock' | 'random' | 'vocabulary' | 'addresses' | 'guesses' | 'mayUseDemo'> {
  readonly maxBodyBytes: number
  readonly unprovenBodies: UnprovenBodies
  readonly metrics: Pick<DeliveryMetrics, 'countReceived'>
}

/**
 * `/{product}/webhooks`: the network's edge, handing in events for an account, by a token with the scope `gateway` or by the
 * signature of an app that is linked to every account in the post.
 */
export function openReceiverDoor(server: FastifyInstance, deps: ReceiverDeps): void {
  const { database, clock, vocabulary, metrics, guesses, addresses } = deps
  const url = `/${vocabulary.product}/webhooks`
  const checkEnvelope: (body: unknown) => asserts body is Envelope = makeEnvelopeCheck(vocabulary)
  const nobodysSecret = deps.random.bytes(32).toString('hex')
  const hashingTime = new TimeShare(shareOfTime)
  const receive = makeIntake({
    database,
    clock,
    async readmit(before) {
      const caller = await authenticateAgain(database.read, clock, before.caller)
      checkScope(caller)
      return { caller }
    },
  })

  server.get<{ Querystring: Record<string, unknown> }>(url, async (request, reply) => {
    request.operationName = 'receiver.handshake'
    const challenge = readQuestion(request.query, 'hub.challenge')
    const verify_token = readQuestion(request.query, 'hub.verify_token')
    if (readQuestion(request.query, 'hub.mode') !== 'subscribe') throw hubModeWrong()
    const address = addresses.of(request.raw)
    guesses.refuse(address, verify_token)
    if (!(await isVerifyToken(database.read, verify_token))) {
      guesses.noteWrong(address, { secret: verify_token })
      throw verifyTokenUnknown()
    }
    guesses.noteGood(verify_token)
    // The challenge is the caller's own text: nothing may take it for a page.
    reply.headers({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    })
    return challenge
  })

  server.post(url, async (request, reply) => {
    request.operationName = 'receiver.post'
    reply.headers({ 'cache-control': 'private, no-store', 'content-type': 'application/json; charset=utf-8' })
    const { fields } = await receive(await readPost(request))
    for (const field of fields) metrics.countReceived(field)
    return writeJson({ success: true })
  })

  /** The proof comes first: a token is looked up before any byte is read, and a signature checked before any byte is parsed. */
  async function readPost(request: FastifyRequest): Promise<Post> {
    const { headers } = request
    const signature = headers['x-hub-signature-256']
    const isSigned = headers.authorization === undefined && typeof signature === 'string'
    const { sender, bytes } = isSigned ? await readSigned(request, signature) : await readWithToken(request)
    const { business_id, app_id } = 'caller' in sender ? sender.caller : sender.signer
    request.logged = { business: business_id, app: app_id }
    checkContentType(headers)
    // A large post is worked through in several turns.
    const task = new LongTask()
    const text = readJson(bytes, eventBounds)
    await task.yieldIfDue()
    const body = parseJson(text)
    await task.yieldIfDue()
    // The signer was looked for among the apps of the first account; only now is it known which others there are.
    if (isSigned && !(await isLinkedToAll(database.read, app_id, body))) {
      guesses.noteWrong(addresses.of(request.raw))
      throw invalidSignature()
    }
    checkEnvelope(body)
    await task.yieldIfDue()
    const { body: envelope, write } = keepNumbers(text, body)
    await task.yieldIfDue()
    return { sender, envelope: envelope as Envelope, write, size: bytes.length }
  }

  async function readWithToken(request: FastifyRequest): Promise<{ sender: Sender; bytes: Buffer }> {
    const { raw, headers } = request
    const query = request.query as Record<string, unknown>
    const caller = await authenticate(deps, { raw, headers, query, remote_address: addresses.of(raw) })
    checkScope(caller)
    return { sender: { caller }, bytes: await readBytes(raw, deps.maxBodyBytes) }
  }

  /** Whoever is refused here has cost so many bytes; whoever was refused too often costs none. */
  async function readSigned(request: FastifyRequest, header: string): Promise<{ sender: Sender; bytes: Buffer }> {
    const { raw } = request
    const address = addresses.of(raw)
    guesses.refuse(address)
    const mayUseDemo = deps.mayUseDemo(raw)
    const signature = readHubSignature(header)
    if (!signature) {
      guesses.noteWrong(address)
      throw invalidSignature()
    }
    const body = deps.unprovenBodies.open(raw, address, deps.maxBodyBytes)
    const isTaken = (secret: string) => mayUseDemo || !isDemoAppSecret(secret)
    const proof = new SignedBody({ db: database.read, clock, signature, isTaken, time: hashingTime, nobodysSecret })
    try {
      await body.read((bytes) => proof.write(bytes))
      const app = await proof.end()
      if (!app) throw invalidSignature()
      const bytes = body.take()
      return {
        sender: { signer: identifySigner(database.read, clock, app, { headers: request.headers, bytes }) },
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
}

function readQuestion(query: Readonly<Record<string, unknown>>, name: string): string {
  const value = query[name]
  if (typeof value !== 'string' || value === '') throw badArgument(questionRequired(name))
  return value
}

function checkContentType({ 'content-type': given }: IncomingHttpHeaders): void {
  if (given?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json') return
  throw refuseContentType(given, 'application/json')
}
