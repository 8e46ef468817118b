import { setTimeout as wait } from 'node:timers/promises'
import { parseDuration } from '../base/time/duration.ts'
import { type AnyErrorStatus, GraphError } from '../graph/graph-error.ts'
import type { FaultEffect } from '../sandbox/fault-rules.ts'
import type { Faults } from '../sandbox/faults.ts'
import type { Admission, GraphRequest } from './admission.ts'

/** The header that says which rule a response was hit by. */
export const faultHeader = 'x-switchboard-fault'

/** Lets a request of a sandbox go wrong if a rule says so: late, with an error, or without a response. The rules themselves stay within reach. */
export async function applyInjectedFault(
  faults: Faults,
  { row, caller, node }: Admission,
  request: GraphRequest,
  input: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { door, name, chapter } = row.operation
  if (chapter === 'sandbox') return
  const given = node?.kind === 'phone_number' ? node.id : input['phone_number_id']
  const hit = await faults.strikeRequest({
    door,
    operation: name,
    phone_number_id: typeof given === 'string' ? given : undefined,
    app_id: caller?.app_id,
    callback: undefined,
  })
  if (!hit) return
  request.fault = hit.label
  const { delay, drop, status } = hit.effect
  if (delay !== undefined) await wait(parseDuration(delay) ?? 0)
  if (drop) request.raw.socket.destroy()
  if (drop || status !== undefined) throw errorOf(hit.effect)
}

function errorOf({ status = 500, code = 2, subcode }: FaultEffect): GraphError {
  const text = 'A fault rule of this sandbox says so: status {status}, code {code}.'
  const definition = { id: 'fault_rule', status: status as AnyErrorStatus, code, subcode, text }
  return new GraphError(definition, { status, code, ...(status === 429 && { seconds: 1 }) })
}
