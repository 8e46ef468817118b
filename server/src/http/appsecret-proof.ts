import { createHmac, timingSafeEqual } from 'node:crypto'
import { type AuthenticationDeps, type CredentialSource, readSecret } from '../auth/bearer.ts'
import { findSecrets } from '../delivery/store/signing-secrets.ts'
import { type Caller, isOfConsole } from '../graph/caller.ts'
import { badArgument } from '../graph/define-error.ts'
import { proofMissing, proofWrong } from './errors.ts'

/** By this argument a request shows that its sender knows the secret of the token's app. */
const proofArgument = 'appsecret_proof'

const proofPattern = /^[\da-f]{64}$/i

/** Whether there is a proof to look at, in the query, or one that has to be there. Most requests have none, and end here. */
export function hasProofToCheck(query: Readonly<Record<string, unknown>>, caller: Caller): boolean {
  return caller.needsProof === true || query[proofArgument] !== undefined
}

/** Checks the proof in the query. A body may bring it instead, so for requests that have one it may still be missing. */
export async function checkProofInQuery(
  deps: AuthenticationDeps,
  request: CredentialSource,
  caller: Caller,
): Promise<void> {
  const given = request.query[proofArgument]
  if (given === undefined && hasBody(request)) return
  await checkProof(deps, request, caller, given)
}

/** Checks the proof in the arguments of a body; undefined where there is nothing to check. */
export function checkProofInBody(
  deps: AuthenticationDeps,
  request: CredentialSource,
  caller: Caller,
  body: Readonly<Record<string, unknown>> | undefined,
): Promise<void> | undefined {
  const given = body?.[proofArgument]
  if (given === undefined && (caller.needsProof !== true || request.query[proofArgument] !== undefined))
    return undefined
  return checkProof(deps, request, caller, given)
}

function hasBody({ raw: { method } }: CredentialSource): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** With the current secret of the app or, while that overlaps, the previous one. Sessions of the console have no app of their own. */
async function checkProof(
  deps: AuthenticationDeps,
  request: CredentialSource,
  caller: Caller,
  given: unknown,
): Promise<void> {
  if (isOfConsole(caller)) return
  if (given === undefined) throw badArgument(proofMissing(proofArgument))
  const { guesses } = deps
  const { remote_address } = request
  const token = readSecret(deps, request)
  const known = typeof given === 'string' ? given : undefined
  // Each try of a proof is one of a secret, for whoever found a token.
  guesses.refuse(remote_address, known)
  const secrets = await findSecrets(deps.database.read, caller.app_id, deps.clock.now())
  const proof = typeof given === 'string' && proofPattern.test(given) ? Buffer.from(given, 'hex') : undefined
  // Of all secrets, so that the time says nothing about which of them it was.
  const matches = secrets
    .filter((secret) => secret !== '')
    .map((secret) => createHmac('sha256', secret).update(token).digest())
    .map((expected) => proof !== undefined && timingSafeEqual(expected, proof))
  if (!matches.includes(true)) {
    guesses.noteWrong(remote_address, known === undefined ? {} : { secret: known })
    throw badArgument(proofWrong(proofArgument))
  }
  if (known !== undefined) guesses.noteGood(known)
}
