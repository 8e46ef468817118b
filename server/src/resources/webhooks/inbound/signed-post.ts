import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { minute, second } from '../../../base/time/duration.ts'
import type { InboundAdmission } from '../../../chapter.ts'
import type { Db } from '../../../db/database.ts'
import { clockTolerance, type StandardHeaders, verifyStandard } from '../../../delivery/post/sign.ts'
import { secretsInForce } from '../../../delivery/store/signing-secrets.ts'
import { invalidSignature, staleSignature } from '../../../graph/errors.ts'
import { isNodeId } from '../../../graph/nodes.ts'
import { maxEventItems } from './message-kinds.ts'
import { listAppsLinkedToAll } from './receiver-store.ts'

export const identifySigner: InboundAdmission['identifySigner'] = (
  db,
  { clock, realClock },
  app,
  { headers, bytes },
) => {
  const standard = readStandard(headers)
  if (standard) checkStandard(standard, realClock.now(), bytes, secretsInForce(db, app, clock.now()))
  const signature = String(headers['x-hub-signature-256']).toLowerCase()
  const ofSignature = hash('sha256', `signature ${signature}`, 'base64url')
  const digests = standard ? [hash('sha256', `id ${standard['webhook-id']}`, 'base64url'), ofSignature] : [ofSignature]
  return { app_id: app.id, business_id: app.business_id, digests }
}

/** Undefined when a post is not signed by the convention. */
function readStandard(headers: IncomingHttpHeaders): StandardHeaders | undefined {
  if (headers['webhook-signature'] === undefined) return undefined
  const read = (name: keyof StandardHeaders) => String(headers[name] ?? '')
  return {
    'webhook-id': read('webhook-id'),
    'webhook-timestamp': read('webhook-timestamp'),
    'webhook-signature': read('webhook-signature'),
  }
}

/** A wrong signature and an old one get different errors: the second is usually a wrong clock. */
function checkStandard(headers: StandardHeaders, now: number, bytes: Buffer, secrets: readonly string[]): void {
  const signedTime = Number(headers['webhook-timestamp']) * second
  if (!verifyStandard(headers, signedTime, bytes, secrets)) throw invalidSignature()
  if (Math.abs(now - signedTime) > clockTolerance) throw staleSignature({ minutes: clockTolerance / minute })
}

export async function isLinkedToAll(db: Db, app_id: string, body: unknown): Promise<boolean> {
  const accounts = listAccounts(body)
  if (accounts.size === 0 || accounts.size > maxEventItems) return false
  const apps = await listAppsLinkedToAll(db, accounts)
  return apps.some(({ id }) => id === app_id)
}

/** The accounts that a body names, before the body is validated; none when one of them is not an id. */
function listAccounts(body: unknown): Set<string> {
  const { entry } = (body ?? {}) as { entry?: unknown }
  const accounts = Array.isArray(entry) ? entry.map((one) => (one as { id?: unknown } | null)?.id) : []
  return accounts.every((id) => typeof id === 'string' && isNodeId(id)) ? new Set(accounts as string[]) : new Set()
}
