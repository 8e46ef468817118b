import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authenticate } from '../auth/bearer.ts'
import { LongTask } from '../base/long-task.ts'
import type { DeliveryMetrics } from '../delivery/metrics.ts'
import { badArgument, forbidden, malformedRequest, missingPermission } from '../graph/errors.ts'
import { parseJson, readBytes, readJson } from '../http/body.ts'
import { writeJson } from '../http/json.ts'
import type { PipelineParts } from '../http/pipeline.ts'
import { type Envelope, makeEnvelopeCheck } from '../resources/webhooks/envelope.ts'
import { eventBounds } from '../resources/webhooks/envelope-schemas.ts'
import { keepNumbers } from '../resources/webhooks/exact-json.ts'
import { findSigner, isVerifyToken, type Receipt, receiveEnvelope } from '../resources/webhooks/receiver.ts'

export interface ReceiverParts extends Pick<PipelineParts, 'database' | 'clock' | 'words' | 'onCommit'> {
  readonly maxBodyBytes: number
  readonly metrics: Pick<DeliveryMetrics, 'countReceived'>
}

/** Who hands in events, and for which accounts; undefined accounts: for any. */
interface Sender {
  readonly app_id: string
  readonly business_id: string
  readonly accounts: ReadonlySet<string> | undefined
}

/** What was handed in, by whom, and how to write it again as it came. */
interface Post extends Pick<Receipt, 'write'> {
  readonly sender: Sender
  readonly envelope: Envelope
}

/**
 * `/{product}/webhooks`: the network's edge, handing in events for an account, by a token with the scope `gateway` or by the
 * signature of an app that is linked to every account in the post.
 */
export function openReceiverDoor(server: FastifyInstance, parts: ReceiverParts): void {
  const { database, clock, words, metrics } = parts
  const url = `/${words.product}/webhooks`
  const checkEnvelope: (body: unknown) => asserts body is Envelope = makeEnvelopeCheck(words)

  server.get<{ Querystring: Record<string, unknown> }>(url, async (request, reply) => {
    request.operationName = 'receiver.handshake'
    const challenge = readQuestion(request.query, 'hub.challenge')
    const verify_token = readQuestion(request.query, 'hub.verify_token')
    if (readQuestion(request.query, 'hub.mode') !== 'subscribe') throw badArgument('hub.mode', 'it must be subscribe.')
    if (!(await isVerifyToken(database.read, verify_token))) {
      throw forbidden('The verify token is not one that an app of this service is subscribed with; use one that is.')
    }
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
    const { sender, envelope, write } = await readPost(request)
    const raised = await database.transaction((tx) =>
      receiveEnvelope({ tx, clock, accounts: sender.accounts, write }, envelope),
    )
    parts.onCommit()
    for (const field of raised) metrics.countReceived(field)
    return writeJson({ success: true })
  })

  /** The proof comes first: a signature is one of the exact bytes, a token is looked at before any of them is read. */
  async function readPost(request: FastifyRequest): Promise<Post> {
    const signature = request.headers['x-hub-signature-256']
    const isSigned = request.headers.authorization === undefined && typeof signature === 'string'
    const bearer = isSigned ? undefined : await authenticateGateway(request)
    const bytes = await readBytes(request.raw, parts.maxBodyBytes)
    // A large post is worked through in several turns.
    const task = new LongTask()
    const text = readJson(bytes, eventBounds)
    await task.yieldIfDue()
    const sender = bearer ?? (await authenticateSigner(String(signature), bytes))
    request.logged = { business: sender.business_id, app: sender.app_id }
    checkContentType(request)
    await task.yieldIfDue()
    const body = parseJson(text)
    await task.yieldIfDue()
    checkEnvelope(body)
    await task.yieldIfDue()
    const { body: envelope, write } = keepNumbers(text, body)
    await task.yieldIfDue()
    return { sender, envelope: envelope as Envelope, write }
  }

  async function authenticateGateway(request: FastifyRequest): Promise<Sender> {
    const { access_token } = request.query as { access_token?: unknown }
    const fromQuery = words.habits.token_in_query && typeof access_token === 'string' ? access_token : undefined
    const caller = await authenticate(database.read, clock, request.headers.authorization, fromQuery)
    if (!caller.scopes.has('gateway')) throw missingPermission(['gateway'])
    return caller
  }

  async function authenticateSigner(signature: string, bytes: Buffer): Promise<Sender> {
    const body = readForSigner(bytes)
    return { ...(await findSigner(database.read, clock, { signature, bytes, body })), accounts: undefined }
  }
}

/** What cannot be read names no account, so nobody can have signed for it. */
function readForSigner(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
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
