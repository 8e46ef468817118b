import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authenticate, authenticateAgain } from '../auth/bearer.ts'
import { confirmAdmission, transactAdmitted } from '../auth/readmission.ts'
import { LongTask } from '../base/long-task.ts'
import type { LaneAddress } from '../delivery/lane-rows.ts'
import type { DeliveryMetrics } from '../delivery/metrics.ts'
import type { StandardHeaders } from '../delivery/sign.ts'
import type { Caller } from '../graph/caller.ts'
import { badArgument, forbidden, malformedRequest } from '../graph/errors.ts'
import { parseJson, readBytes, readJson } from '../http/body.ts'
import { writeJson } from '../http/json.ts'
import type { PipelineDeps } from '../http/pipeline.ts'
import { type Envelope, makeEnvelopeCheck } from '../resources/webhooks/envelope.ts'
import { eventBounds } from '../resources/webhooks/envelope-schemas.ts'
import { keepNumbers } from '../resources/webhooks/exact-json.ts'
import { isVerifyToken, type Receipt, type Received, receiveEnvelope } from '../resources/webhooks/receiver.ts'
import { findSigner, rememberSigned, type SignedPost, type Signer } from '../resources/webhooks/signed-post.ts'
import { checkScope } from './gateway.ts'

export interface ReceiverParts extends Pick<PipelineDeps, 'database' | 'clock' | 'words'> {
  readonly maxBodyBytes: number
  /** Told of the lanes that events were raised for, once they are committed. */
  readonly onRaised: (lanes: readonly LaneAddress[]) => void
  readonly metrics: Pick<DeliveryMetrics, 'countReceived'>
}

/** Who hands in events: by a token, or by a signature. */
type Sender = { readonly caller: Caller } | { readonly signer: Signer }

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
    const post = await readPost(request)
    const { fields, lanes } = await receive(post)
    parts.onRaised(lanes)
    for (const field of fields) metrics.countReceived(field)
    return writeJson({ success: true })
  })

  async function receive({ sender, envelope, write }: Post): Promise<Received> {
    if ('signer' in sender) {
      const { signer } = sender
      const options = { share: signer.app_id }
      return database.transaction(async (tx) => {
        if (!(await rememberSigned(tx, clock, signer))) return { fields: [], lanes: [] }
        return receiveEnvelope({ tx, clock, accounts: undefined, signer: signer.app_id, write }, envelope)
      }, options)
    }
    const readmit = async (before: { readonly caller: Caller }) => {
      const caller = await authenticateAgain(database.read, clock, before.caller)
      checkScope(caller)
      return { caller }
    }
    return transactAdmitted(parts, sender, readmit, async (tx, admitted) => {
      const raised = await receiveEnvelope({ tx, clock, accounts: admitted.caller.accounts, write }, envelope)
      await confirmAdmission(tx, clock, admitted)
      return raised
    })
  }

  /** The proof comes first: a signature is one of the exact bytes, a token is looked at before any of them is read. */
  async function readPost(request: FastifyRequest): Promise<Post> {
    const { headers } = request
    const isSigned = headers.authorization === undefined && typeof headers['x-hub-signature-256'] === 'string'
    const caller = isSigned ? undefined : await authenticateGateway(request)
    const bytes = await readBytes(request.raw, parts.maxBodyBytes)
    // A large post is worked through in several turns.
    const task = new LongTask()
    const text = readJson(bytes, eventBounds)
    await task.yieldIfDue()
    const sender: Sender = caller
      ? { caller }
      : { signer: await findSigner(database.read, clock, readSigned(headers, bytes)) }
    const { business_id, app_id } = 'caller' in sender ? sender.caller : sender.signer
    request.logged = { business: business_id, app: app_id }
    checkContentType(request)
    await task.yieldIfDue()
    const body = parseJson(text)
    await task.yieldIfDue()
    checkEnvelope(body)
    await task.yieldIfDue()
    const { body: envelope, write } = keepNumbers(text, body)
    return { sender, envelope: envelope as Envelope, write }
  }

  async function authenticateGateway(request: FastifyRequest): Promise<Caller> {
    const { access_token } = request.query as { access_token?: unknown }
    const fromQuery = words.habits.token_in_query && typeof access_token === 'string' ? access_token : undefined
    const caller = await authenticate(database.read, clock, request.headers.authorization, fromQuery)
    checkScope(caller)
    return caller
  }
}

/** What a post is signed with: by our own header, and by the Standard Webhooks convention where it says so. */
function readSigned(headers: IncomingHttpHeaders, bytes: Buffer): SignedPost {
  const read = (name: keyof StandardHeaders | 'x-hub-signature-256') => String(headers[name] ?? '')
  const standard = {
    'webhook-id': read('webhook-id'),
    'webhook-timestamp': read('webhook-timestamp'),
    'webhook-signature': read('webhook-signature'),
  }
  return {
    signature: read('x-hub-signature-256'),
    standard: headers['webhook-signature'] === undefined ? undefined : standard,
    bytes,
    body: readForSigner(bytes),
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
