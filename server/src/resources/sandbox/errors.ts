import { defineError, defineProblem } from '../../graph/define-error.ts'

export const sandboxNeedsAll = defineError({
  id: 'sandbox_needs_all',
  status: 403,
  text: 'This concerns every tenant, and the token is limited to some; use an operator token without limits.',
})
export const clockNeedsOne = defineError({
  id: 'clock_needs_one',
  status: 400,
  text: 'The clock is moved in one way at a time; send exactly one of advance (such as 24h), set (a time in ISO 8601) and real (true).',
})
export const clockNotBack = defineProblem({
  id: 'clock_not_back',
  text: 'it is before {now}, which is now, and the clock does not go back; send a later time, or real.',
})
export const effectNeedsOne = defineProblem({
  id: 'effect_needs_one',
  text: 'it must hold exactly one of status (with code), delay, drop, duplicate, reorder and hold.',
})
export const faultErrorUnknown = defineProblem({
  id: 'fault_error_unknown',
  text: 'no error of the API has status {status} and code {code}; docs/errors.md lists them.',
})
export const faultOperationUnknown = defineProblem({
  id: 'fault_operation_unknown',
  text: 'there is no operation {name}; docs/operations.md lists them, such as messages.send.',
})
export const faultOfNoRequest = defineProblem({
  id: 'fault_of_no_request',
  text: 'this rule is about posts to callbacks, which have neither door nor operation; leave them out.',
})
export const snapshotOutdated = defineError({
  id: 'snapshot_outdated',
  status: 422,
  text: 'The snapshot was saved by another version of the service; save it again with this version.',
})
export const tooManySnapshots = defineError({
  id: 'too_many_snapshots',
  status: 422,
  text: 'There are {max} snapshots already, and each holds the whole store; delete one first, or save under the name of one.',
})
export const clockTooFar = defineProblem({
  id: 'clock_too_far',
  text: 'the clock would go beyond the year 9999; send an earlier time.',
})
