import type { Static } from 'typebox'
import { writeScope } from '../../auth/scopes.ts'
import { second } from '../../base/time/duration.ts'
import type { Scope } from '../../graph/caller.ts'
import { invalidToken, tokenExpired, tokenRevoked } from '../../graph/errors.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import type { debugSchema } from './schemas.ts'
import type { InspectedToken } from './store.ts'

type Shown = Static<typeof debugSchema>['data']

/** What is said of a text that is no token of this service. */
export function describeUnknown(): Shown {
  return { is_valid: false, scopes: [], error: { code: invalidToken.code, message: 'It is no token of this service.' } }
}

/** `owners`: the businesses of the accounts that the token is limited to. */
export function describeToken(
  token: InspectedToken,
  owners: readonly string[],
  vocabulary: Vocabulary,
  now: number,
): Shown {
  const { app_id, name, is_of_app, created_time, expires_time, user_id } = token
  const scopes = token.scopes as Scope[]
  const error = findEnd(token, now)
  return {
    ...(app_id !== null && { app_id }),
    application: name,
    type: is_of_app ? 'APP' : 'SYSTEM_USER',
    is_valid: error === undefined,
    issued_at: toSeconds(created_time),
    expires_at: expires_time === null ? 0 : toSeconds(expires_time),
    scopes: scopes.map((scope) => writeScope(scope, vocabulary)),
    granular_scopes: scopes.map((scope) => ({
      scope: writeScope(scope, vocabulary),
      ...limitOf(scope, token, owners),
    })),
    ...(user_id !== null && { user_id }),
    ...(error && { error }),
  }
}

/** A token that is limited to accounts is limited to their businesses, too. */
function limitOf(scope: Scope, { accounts }: InspectedToken, owners: readonly string[]) {
  if (accounts === null) return {}
  return { target_ids: [...(scope === 'business_management' ? owners : accounts)] }
}

function findEnd({ revoked_time, expires_time }: InspectedToken, now: number): Shown['error'] {
  if (revoked_time !== null) return showEnd(tokenRevoked)
  return expires_time !== null && expires_time <= now ? showEnd(tokenExpired) : undefined
}

function showEnd({ code, subcode, text }: typeof tokenRevoked | typeof tokenExpired): NonNullable<Shown['error']> {
  return { code, message: text, ...(subcode !== undefined && { subcode }) }
}

function toSeconds(time: number): number {
  return Math.floor(time / second)
}
