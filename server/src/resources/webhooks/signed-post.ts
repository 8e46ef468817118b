import { hash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { minute, second } from '../../base/duration.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { secretsInForce } from '../../delivery/secrets.ts'
import { clockTolerance, type StandardHeaders, verifyHub, verifyStandard } from '../../delivery/sign.ts'
import { invalidSignature, staleSignature } from '../../graph/errors.ts'
import { isNodeId } from '../../graph/nodes.ts'
import { maxEventItems } from './message-kinds.ts'
import { listAppsLinkedToAll, rememberPost } from './receiver-store.ts'

/** A post that is proven by its signature alone. */
export interface SignedPost {
  /** `X-Hub-Signature-256`. */
  readonly signature: string
  /** Undefined where the post is not signed by that convention as well. */
  readonly standard: StandardHeaders | undefined
  readonly bytes: Buffer
  readonly body: unknown
}

export interface Signer {
  readonly app_id: string
  readonly business_id: string
  /** What the post is known by when it comes again: it is new when the first of them is. */
  readonly digests: readonly string[]
}

/**
 * The app whose secret signed a body: one that is linked to every account in it and may see them. The 401 when there is none, or
 * when what is signed by the Standard Webhooks convention as well is not as that says.
 */
export async function findSigner(db: Db, clock: Clock, post: SignedPost): Promise<Signer> {
  const { signature, standard, bytes, body } = post
  const accounts = listAccounts(body)
  const apps = accounts.size === 0 || accounts.size > maxEventItems ? [] : await listAppsLinkedToAll(db, accounts)
  const signer = apps.find((app) => verifyHub(signature, bytes, secretsInForce(db, app, clock.now())))
  if (!signer) throw invalidSignature()
  if (standard) checkStandard(standard, clock.now(), bytes, secretsInForce(db, signer, clock.now()))
  const ofSignature = hash('sha256', `signature ${signature.toLowerCase()}`, 'base64url')
  const digests = standard ? [hash('sha256', `id ${standard['webhook-id']}`, 'base64url'), ofSignature] : [ofSignature]
  return { app_id: signer.id, business_id: signer.business_id, digests }
}

/** The accounts that a body names, before anything else of it is known to be right; none when one of them is no id. */
function listAccounts(body: unknown): Set<string> {
  const { entry } = (body ?? {}) as { entry?: unknown }
  const accounts = Array.isArray(entry) ? entry.map((one) => (one as { id?: unknown } | null)?.id) : []
  return accounts.every((id) => typeof id === 'string' && isNodeId(id)) ? new Set(accounts as string[]) : new Set()
}

/** Who signed wrongly and who signed long ago are told apart: the second is most often a clock that is wrong. */
function checkStandard(headers: StandardHeaders, now: number, bytes: Buffer, secrets: readonly string[]): void {
  const signedTime = Number(headers['webhook-timestamp']) * second
  if (!verifyStandard(headers, signedTime, bytes, secrets)) throw invalidSignature()
  if (Math.abs(now - signedTime) > clockTolerance) throw staleSignature(clockTolerance / minute)
}

/**
 * Remembers a post, in the transaction that takes it; false when it was taken before. A signature over the bytes alone says
 * nothing of when it was made, so whoever has seen the post could send it again and again.
 */
export async function rememberSigned(tx: Transaction, clock: Clock, { app_id, digests }: Signer): Promise<boolean> {
  const received_time = clock.now()
  const isNew: boolean[] = []
  for (const digest of digests) isNew.push(await rememberPost(tx, { app_id, digest, received_time }))
  return isNew[0] === true
}
