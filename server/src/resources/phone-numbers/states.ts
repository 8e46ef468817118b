import type { PhoneNumbersTable } from '../../db/tables.ts'
import type { DefinedError } from '../../graph/define-error.ts'
import {
  numberHeldByPlatform,
  numberLinkEnded,
  numberNotLinked,
  numberNotRegistered,
  numberNotVerified,
  numberVerified,
} from './errors.ts'
import { hostPlatforms, nameStatuses } from './schemas.ts'

/** The columns of a number that a transition changes. */
export type NumberStates = Pick<
  PhoneNumbersTable,
  | 'registered'
  | 'registration_epoch'
  | 'last_onboarded_time'
  | 'link_status'
  | 'connection_status'
  | 'code_verification_status'
  | 'name_status'
  | 'unified_cert_status'
  | 'host_platform'
>

/** A new number. */
export const createdStates: NumberStates = {
  registered: false,
  registration_epoch: 0,
  last_onboarded_time: 0,
  link_status: 'PENDING',
  connection_status: 'PENDING',
  code_verification_status: 'UNVERIFIED',
  name_status: 'PENDING_REVIEW',
  unified_cert_status: 'NAME_PENDING_REVIEW',
  host_platform: 'NOT_APPLICABLE',
}

/** What can happen to a number after its creation. */
const numberEvents = [
  'code_verified',
  'name_approved',
  'renamed',
  'registered',
  'deregistered',
  'connected',
  'disconnected',
] as const
export type NumberEvent = (typeof numberEvents)[number]

type Column =
  | 'link_status'
  | 'connection_status'
  | 'code_verification_status'
  | 'name_status'
  | 'unified_cert_status'
  | 'host_platform'

interface Objection {
  readonly when: (states: NumberStates) => boolean
  /** One sentence for the caller: what is wrong and what is right. */
  readonly because: DefinedError
}

interface Transition {
  /** The states in which it is impossible; the first match is reported. */
  readonly objections: readonly Objection[]
  /** Value before → value after, by column; other values stay. */
  readonly moves: Partial<Record<Column, Readonly<Record<string, string>>>>
  /** Whether the number is on the platform afterwards; by default unchanged. */
  readonly registers?: boolean
}

/** The link was ended, perhaps by the platform: a business cannot restore it by itself. */
const endedLinks = ['UNLINKED', 'DELETED', 'MIGRATED', 'BANNED']
/** Not linked yet. */
const unverifiedLinks = ['PENDING', 'UNVERIFIED']
/** Set only by the platform: no action of a business ends them, so that nobody escapes by registering again. */
const platformConnections = ['FLAGGED', 'RESTRICTED']

export const verifiedAlready: Objection = {
  when: ({ code_verification_status }) => code_verification_status === 'VERIFIED',
  because: numberVerified,
}
const notVerified: Objection = {
  when: ({ code_verification_status }) => code_verification_status !== 'VERIFIED',
  because: numberNotVerified,
}
const linkEnded: Objection = {
  when: ({ link_status }) => endedLinks.includes(link_status),
  because: numberLinkEnded,
}
const notLinked: Objection = {
  when: ({ link_status }) => [...endedLinks, ...unverifiedLinks].includes(link_status),
  because: numberNotLinked,
}
const notRegistered: Objection = {
  when: ({ registered }) => !registered,
  because: numberNotRegistered,
}
const heldByPlatform: Objection = {
  when: ({ connection_status }) => platformConnections.includes(connection_status),
  because: numberHeldByPlatform,
}

/**
 * THE TABLE: what may happen to a number in which state, and the result. `LINKED` is the link of a verified number; a world file may use
 * `CONNECTED` or `UNVERIFIED` instead, which last until something contradicts them. Of the certificate's states, those of the account
 * (`ACCOUNT_REVIEW_NOT_STARTED`, `LIMITED_ACCESS`) do not follow the name.
 */
const transitions: Record<NumberEvent, Transition> = {
  code_verified: {
    objections: [verifiedAlready],
    moves: {
      code_verification_status: { UNVERIFIED: 'VERIFIED' },
      link_status: { PENDING: 'LINKED', UNVERIFIED: 'LINKED' },
      connection_status: { UNVERIFIED: 'PENDING' },
    },
  },
  name_approved: {
    objections: [],
    moves: {
      name_status: fromAll(nameStatuses, 'APPROVED'),
      unified_cert_status: { NAME_PENDING_REVIEW: 'APPROVED', NAME_NOT_APPROVED: 'APPROVED' },
    },
  },
  renamed: {
    objections: [],
    moves: {
      name_status: fromAll(nameStatuses, 'PENDING_REVIEW'),
      unified_cert_status: { APPROVED: 'NAME_PENDING_REVIEW', NAME_NOT_APPROVED: 'NAME_PENDING_REVIEW' },
    },
  },
  registered: {
    objections: [notVerified, linkEnded],
    moves: {
      link_status: { PENDING: 'LINKED', UNVERIFIED: 'LINKED' },
      connection_status: { DISCONNECTED: 'CONNECTED', UNVERIFIED: 'CONNECTED', PENDING: 'CONNECTED' },
      host_platform: fromAll(hostPlatforms, 'CLOUD_API'),
    },
    registers: true,
  },
  deregistered: {
    objections: [notLinked, notRegistered],
    moves: {
      link_status: { CONNECTED: 'LINKED' },
      connection_status: { CONNECTED: 'DISCONNECTED', UNVERIFIED: 'DISCONNECTED', PENDING: 'DISCONNECTED' },
      host_platform: fromAll(hostPlatforms, 'NOT_APPLICABLE'),
    },
    registers: false,
  },
  connected: {
    objections: [notRegistered, heldByPlatform],
    moves: {
      connection_status: { DISCONNECTED: 'CONNECTED', UNVERIFIED: 'CONNECTED', PENDING: 'CONNECTED' },
    },
  },
  disconnected: {
    objections: [notRegistered, heldByPlatform],
    moves: {
      link_status: { CONNECTED: 'LINKED' },
      connection_status: { CONNECTED: 'DISCONNECTED', UNVERIFIED: 'DISCONNECTED', PENDING: 'DISCONNECTED' },
    },
  },
}

function fromAll(values: readonly string[], to: string): Record<string, string> {
  return Object.fromEntries(values.map((value) => [value, to]))
}

/** The new states of a number; throws the 422 when the transition is impossible. */
export function moveNumber(states: NumberStates, event: NumberEvent, now: number): NumberStates {
  // Registering twice is one registration, whatever has happened to the number since.
  if (event === 'registered' && states.registered) return pickStates(states)
  const { objections, moves, registers } = transitions[event]
  const objection = objections.find(({ when }) => when(states))
  if (objection) throw objection.because()

  const next = pickStates(states)
  for (const [column, changes] of Object.entries(moves)) {
    const before = next[column as Column]
    next[column as Column] = changes[before] ?? before
  }
  if (registers === undefined) return next
  if (!registers) return { ...next, registered: false }
  return { ...next, registered: true, registration_epoch: states.registration_epoch + 1, last_onboarded_time: now }
}

function pickStates(states: NumberStates): NumberStates {
  return {
    registered: states.registered,
    registration_epoch: states.registration_epoch,
    last_onboarded_time: states.last_onboarded_time,
    link_status: states.link_status,
    connection_status: states.connection_status,
    code_verification_status: states.code_verification_status,
    name_status: states.name_status,
    unified_cert_status: states.unified_cert_status,
    host_platform: states.host_platform,
  }
}

/** The states behind `registered` in a world file: a new number, or a fully registered one. */
export function describeRegistration(
  registered: boolean,
  now: number,
  before: Pick<NumberStates, 'registration_epoch' | 'last_onboarded_time'> = createdStates,
): NumberStates {
  const { registration_epoch, last_onboarded_time } = before
  const created = { ...createdStates, registration_epoch, last_onboarded_time }
  if (!registered) return created
  const history: NumberEvent[] = ['code_verified', 'name_approved', 'registered']
  const states = history.reduce((soFar, event) => moveNumber(soFar, event, now), created)
  return { ...states, link_status: 'CONNECTED' }
}
