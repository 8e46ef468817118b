import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authenticate } from '../auth/bearer.ts'
import { isDemoAppSecret } from '../auth/demo.ts'
import { TimeShare } from '../base/time-share.ts'
import type { DeliveryMetrics } from '../delivery/metrics.ts'
import { readHubSignature } from '../delivery/sign.ts'
import {
  badArgument,
  forbidden,
  GraphError,
  invalidSignature,
  malformedRequest,
  missingPermission,
} from '../graph/errors.ts'
import { decode, parseJson, readBytes } from '../http/body.ts'
import { writeJson } from '../http/json.ts'
import type { PipelineParts } from '../http/pipeline.ts'
import type { UnprovenBodies } from '../http/unproven-bodies.ts'
import { type Envelope, makeEnvelopeCheck } from '../resources/webhooks/envelope.ts'
import { keepNumbers } from '../resources/webhooks/exact-json.ts'
import { isLinkedToAll, isVerifyToken, receiveEnvelope } from '../resources/webhooks/receiver.ts'
import { SignedBody } from '../resources/webhooks/signed-body.ts'

/** Of a process, for hashing the bodies of strangers; receiving them takes about as much again. */
const shareOfTime = 0.1

export interface ReceiverParts
  extends Pick<
    PipelineParts,
    'database' | 'clock' | 'random' | 'words' | 'addresses' | 'guesses' | 'mayUseDemo' | 'onCommit'
  > {
  readonly maxBodyBytes: number
  readonly unprovenBodies: UnprovenBodies
  readonly metrics: Pick<DeliveryMetrics, 'countReceived'>
}

/** Who hands in events, and for which accounts; undefined accounts: for any. */
interface Sender {
  readonly app_id: string
  readonly business_id: string
  readonly accounts: ReadonlySet<string> | undefined
}

interface Post {
  readonly sender: Sender
  readonly bytes: Buffer
}

/**
 * `/{product}/webhooks`: the network's edge, handing in events for an account, by a token with the scope `gateway` or by the
 * signature of an app that is linked to every account in the post.
 */
export function openReceiverDoor(server: FastifyInstance, parts: ReceiverParts): void {
  const { database, clock, words, metrics, guesses, addresses } = parts
  const url = `/${words.product}/webhooks`
  const checkEnvelope: (body: unknown) => asserts body is Envelope = makeEnvelopeCheck(words)
  const nobodysSecret = parts.random.bytes(32).toString('hex')
  const hashingTime = new TimeShare(shareOfTime)

  server.get<{ Querystring: Record<string, unknown> }>(url, async (request, reply) => {
    request.operationName = 'receiver.handshake'
    const challenge = readQuestion(request.query, 'hub.challenge')
    const verify_token = readQuestion(request.query, 'hub.verify_token')
    if (readQuestion(request.query, 'hub.mode') !== 'subscribe') throw badArgument('hub.mode', 'it must be subscribe.')
    const address = addresses.of(request.raw)
    guesses.refuse(address, verify_token)
    if (!(await isVerifyToken(database.read, verify_token))) {
      guesses.noteWrong(address, { secret: verify_token })
      throw forbidden('The verify token is not one that an app of this service is subscribed with; use one that is.')
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
    const { sender, envelope } = await readPost(request)
    const raised = await database.transaction((tx) =>
      receiveEnvelope({ tx, clock, accounts: sender.accounts }, envelope),
    )
    parts.onCommit()
    for (const field of raised) metrics.countReceived(field)
    return writeJson({ success: true })
  })

  /** The proof comes first: a token is looked at before any byte is read, and a signature before any byte is parsed. */
  async function readPost(request: FastifyRequest): Promise<{ sender: Sender; envelope: Envelope }> {
    const signature = request.headers['x-hub-signature-256']
    const isSigned = request.headers.authorization === undefined && typeof signature === 'string'
    const { sender, bytes } = isSigned ? await receiveSigned(request, signature) : await receiveWithToken(request)
    request.logged = { business: sender.business_id, app: sender.app_id }
    checkContentType(request)
    const body = parseJson(bytes)
    // The signer was looked for among the apps of the first account; only now is it known which others there are.
    if (isSigned && !(await isLinkedToAll(database.read, sender.app_id, body))) {
      guesses.noteWrong(addresses.of(request.raw))
      throw invalidSignature()
    }
    checkEnvelope(body)
    return { sender, envelope: keepNumbers(decode(bytes), body) as Envelope }
  }

  async function receiveWithToken(request: FastifyRequest): Promise<Post> {
    const { raw, headers } = request
    const query = request.query as Record<string, unknown>
    const caller = await authenticate(parts, { raw, headers, query, remote_address: addresses.of(raw) })
    if (!caller.scopes.has('gateway')) throw missingPermission(['gateway'])
    return { sender: caller, bytes: await readBytes(raw, parts.maxBodyBytes) }
  }

  /** Whoever is refused here has cost so many bytes; whoever was refused too often costs none. */
  async function receiveSigned(request: FastifyRequest, header: string): Promise<Post> {
    const { raw } = request
    const address = addresses.of(raw)
    guesses.refuse(address)
    const mayUseDemo = parts.mayUseDemo(raw)
    const signature = readHubSignature(header)
    if (!signature) {
      guesses.noteWrong(address)
      throw invalidSignature()
    }
    const body = parts.unprovenBodies.open(raw, address, parts.maxBodyBytes)
    const isTaken = (secret: string) => mayUseDemo || !isDemoAppSecret(secret)
    const proof = new SignedBody({ db: database.read, clock, signature, isTaken, time: hashingTime, nobodysSecret })
    try {
      await body.read((bytes) => proof.write(bytes))
      const app = await proof.end()
      if (!app) throw invalidSignature()
      return { sender: { app_id: app.id, business_id: app.business_id, accounts: undefined }, bytes: body.take() }
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
  if (typeof value !== 'string' || value === '') throw badArgument(name, 'it is required; send it once.')
  return value
}

function checkContentType(request: FastifyRequest): void {
  const given = request.headers['content-type']
  if (given?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json') return
  throw malformedRequest(
    given === undefined
      ? 'The body has no Content-Type; send it as application/json.'
      : `The Content-Type ${JSON.stringify(given.slice(0, 100))} is not taken; send the body as application/json.`,
  )
}
