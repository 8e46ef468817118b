import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertThrown } from '../../../test/harness/errors.ts'
import { GraphError } from '../../graph/graph-error.ts'
import {
  numberHeldByPlatform,
  numberLinkEnded,
  numberNotLinked,
  numberNotRegistered,
  numberNotVerified,
  numberVerified,
} from './errors.ts'
import {
  codeVerificationStatuses,
  connectionStatuses,
  hostPlatforms,
  linkStatuses,
  nameStatuses,
  unifiedCertStatuses,
} from './schemas.ts'
import { createdStates, describeRegistration, moveNumber, type NumberEvent, type NumberStates } from './states.ts'

const now = 1_780_000_000_000

const values = {
  link_status: linkStatuses,
  connection_status: connectionStatuses,
  code_verification_status: codeVerificationStatuses,
  name_status: nameStatuses,
  unified_cert_status: unifiedCertStatuses,
  host_platform: hostPlatforms,
} as const
type Column = keyof typeof values

/** For each event, what every value of a column becomes, written under that value; a column that is not named stays. */
const outcomes: Record<NumberEvent, Partial<Record<Column, string>>> = {
  code_verified: {
    //                         PENDING LINKED UNLINKED DELETED MIGRATED BANNED RESTRICTED CONNECTED UNVERIFIED
    link_status: '             LINKED  LINKED UNLINKED DELETED MIGRATED BANNED RESTRICTED CONNECTED LINKED',
    //                         CONNECTED DISCONNECTED UNVERIFIED PENDING FLAGGED RESTRICTED
    connection_status: '       CONNECTED DISCONNECTED PENDING    PENDING FLAGGED RESTRICTED',
    //                         VERIFIED UNVERIFIED
    code_verification_status: 'VERIFIED VERIFIED',
  },
  name_approved: {
    //                         APPROVED AVAILABLE_WITHOUT_REVIEW DECLINED EXPIRED  PENDING_REVIEW NONE
    name_status: '             APPROVED APPROVED                 APPROVED APPROVED APPROVED       APPROVED',
    //                         APPROVED NAME_PENDING_REVIEW NAME_NOT_APPROVED ACCOUNT_REVIEW_NOT_STARTED LIMITED_ACCESS
    unified_cert_status:
      '     APPROVED APPROVED            APPROVED          ACCOUNT_REVIEW_NOT_STARTED LIMITED_ACCESS',
  },
  renamed: {
    name_status:
      '             PENDING_REVIEW PENDING_REVIEW PENDING_REVIEW PENDING_REVIEW PENDING_REVIEW PENDING_REVIEW',
    unified_cert_status:
      'NAME_PENDING_REVIEW NAME_PENDING_REVIEW NAME_PENDING_REVIEW ACCOUNT_REVIEW_NOT_STARTED LIMITED_ACCESS',
  },
  registered: {
    //                         PENDING LINKED UNLINKED DELETED MIGRATED BANNED RESTRICTED CONNECTED UNVERIFIED
    link_status: '             LINKED  LINKED refused  refused refused  refused RESTRICTED CONNECTED LINKED',
    //                         CONNECTED DISCONNECTED UNVERIFIED PENDING   FLAGGED RESTRICTED
    connection_status: '       CONNECTED CONNECTED    CONNECTED  CONNECTED FLAGGED RESTRICTED',
    //                         VERIFIED UNVERIFIED
    code_verification_status: 'VERIFIED refused',
    //                         CLOUD_API ON_PREMISE NOT_APPLICABLE
    host_platform: '           CLOUD_API CLOUD_API  CLOUD_API',
  },
  deregistered: {
    //                         PENDING LINKED UNLINKED DELETED MIGRATED BANNED RESTRICTED CONNECTED UNVERIFIED
    link_status: '             refused LINKED refused  refused refused  refused RESTRICTED LINKED   refused',
    //                         CONNECTED    DISCONNECTED UNVERIFIED   PENDING      FLAGGED RESTRICTED
    connection_status: '       DISCONNECTED DISCONNECTED DISCONNECTED DISCONNECTED FLAGGED RESTRICTED',
    host_platform: '           NOT_APPLICABLE NOT_APPLICABLE NOT_APPLICABLE',
  },
  connected: {
    //                         CONNECTED DISCONNECTED UNVERIFIED PENDING   FLAGGED RESTRICTED
    connection_status: '       CONNECTED CONNECTED    CONNECTED  CONNECTED refused refused',
  },
  disconnected: {
    //                         PENDING LINKED UNLINKED DELETED MIGRATED BANNED RESTRICTED CONNECTED UNVERIFIED
    link_status: '             PENDING LINKED UNLINKED DELETED MIGRATED BANNED RESTRICTED LINKED    UNVERIFIED',
    connection_status: '       DISCONNECTED DISCONNECTED DISCONNECTED DISCONNECTED refused refused',
  },
}

/** What is refused because of other things than one of the columns above. */
function isRefusedBesides(event: NumberEvent, states: NumberStates): boolean {
  if (event === 'code_verified') return states.code_verification_status === 'VERIFIED'
  return ['deregistered', 'connected', 'disconnected'].includes(event) && !states.registered
}

function* everyState(): Generator<NumberStates> {
  for (const registered of [false, true]) {
    for (const link_status of linkStatuses) {
      for (const connection_status of connectionStatuses) {
        for (const code_verification_status of codeVerificationStatuses) {
          for (const name_status of nameStatuses) {
            for (const unified_cert_status of unifiedCertStatuses) {
              for (const host_platform of hostPlatforms) {
                yield {
                  registered,
                  registration_epoch: 3,
                  last_onboarded_time: 7,
                  link_status,
                  connection_status,
                  code_verification_status,
                  name_status,
                  unified_cert_status,
                  host_platform,
                }
              }
            }
          }
        }
      }
    }
  }
}

function expectedOutcome(event: NumberEvent, states: NumberStates): NumberStates | 'refused' {
  if (event === 'registered' && states.registered) return states
  if (isRefusedBesides(event, states)) return 'refused'
  const expected = { ...states }
  for (const column of Object.keys(values) as Column[]) {
    const after = outcomes[event][column]?.trim().split(/ +/)
    if (!after) continue
    const value = after[(values[column] as readonly string[]).indexOf(states[column])]
    assert.ok(value, `${event} says nothing about ${column} ${states[column]}`)
    if (value === 'refused') return 'refused'
    expected[column] = value
  }
  if (event === 'registered') return { ...expected, registered: true, registration_epoch: 4, last_onboarded_time: now }
  return event === 'deregistered' ? { ...expected, registered: false } : expected
}

function outcome(event: NumberEvent, states: NumberStates): NumberStates | 'refused' {
  try {
    return moveNumber(states, event, now)
  } catch (error) {
    assert.ok(error instanceof GraphError && error.status === 422)
    return 'refused'
  }
}

function refusal(event: NumberEvent, changes: Partial<NumberStates>): unknown {
  try {
    moveNumber({ ...describeRegistration(true, now), ...changes }, event, now)
  } catch (error) {
    return error
  }
  return 'not refused'
}

describe('the states of a number', () => {
  for (const event of Object.keys(outcomes) as NumberEvent[]) {
    test(`${event} has its outcome in every state`, () => {
      let count = 0
      for (const states of everyState()) {
        const [found, expected] = [outcome(event, states), expectedOutcome(event, states)]
        // Comparing text is a hundred times as fast as deepEqual, and only the failure needs the words of that.
        if (JSON.stringify(found) !== JSON.stringify(expected)) {
          assert.deepEqual(found, expected, `${event} in ${JSON.stringify(states)}`)
        }
        count++
      }
      assert.equal(count, 2 * 9 * 6 * 2 * 6 * 5 * 3)
    })
  }

  test('moving leaves the states that were given as they were', () => {
    const before = { ...createdStates }
    moveNumber(before, 'code_verified', now)
    assert.deepEqual(before, createdStates)
  })

  test('each reason for a refusal has its own sentence', () => {
    assertThrown(refusal('code_verified', {}), numberVerified())
    assertThrown(
      refusal('registered', { registered: false, code_verification_status: 'UNVERIFIED' }),
      numberNotVerified(),
    )
    assertThrown(refusal('registered', { registered: false, link_status: 'BANNED' }), numberLinkEnded())
    assertThrown(refusal('deregistered', { link_status: 'UNLINKED' }), numberNotLinked())
    assertThrown(refusal('deregistered', { registered: false }), numberNotRegistered())
    assertThrown(refusal('connected', { connection_status: 'FLAGGED' }), numberHeldByPlatform())
    assertThrown(refusal('disconnected', { registered: false }), numberNotRegistered())
  })

  test('a world file’s `registered: true` is a number with all behind it', () => {
    assert.deepEqual(describeRegistration(true, now), {
      registered: true,
      registration_epoch: 1,
      last_onboarded_time: now,
      link_status: 'CONNECTED',
      connection_status: 'CONNECTED',
      code_verification_status: 'VERIFIED',
      name_status: 'APPROVED',
      unified_cert_status: 'APPROVED',
      host_platform: 'CLOUD_API',
    })
  })

  test('a world file’s `registered` that changes counts on from the registrations before', () => {
    const before = { registration_epoch: 4, last_onboarded_time: 5 }
    assert.deepEqual(describeRegistration(false, now, before), { ...createdStates, ...before })
    const { registration_epoch, last_onboarded_time } = describeRegistration(true, now, before)
    assert.deepEqual([registration_epoch, last_onboarded_time], [5, now])
  })
})
