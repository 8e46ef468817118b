import { AdmissionChanged, confirmAdmission } from '../../auth/readmission.ts'
import type { OperatorContext } from '../../graph/context.ts'
import { invalidToken } from '../../graph/errors.ts'
import type { Subject } from '../../graph/result.ts'
import type { SandboxPort } from '../../sandbox/port.ts'
import type { Replacer } from '../../sandbox/replace-store.ts'
import { appendActivity, insertActivity, type NewActivity } from '../audit/store.ts'
import { sandboxNeedsAll } from './errors.ts'

/** The audit record of something done to the sandbox as a whole, which belongs to no tenant. */
function activityOf(context: OperatorContext, operation: string, subject: Subject): NewActivity {
  const { caller, clock, remote_address, trace } = context
  return {
    time: clock.now(),
    operation,
    node_id: subject.id,
    node_kind: subject.kind,
    business_id: '',
    account_id: null,
    actor_app_id: caller.app_id,
    actor_business_id: caller.business_id,
    actor_token_id: caller.token_id,
    remote_address,
    trace,
  }
}

type Recorder = Parameters<SandboxPort['moveClock']>[1]

/** Does something to the sandbox as a whole, with its audit record, for an operator who sees everything. */
export async function controlSandbox<T>(
  context: OperatorContext,
  operation: string,
  subject: Subject,
  work: (sandbox: SandboxPort, record: Recorder) => Promise<T>,
): Promise<T> {
  const sandbox = sandboxOf(context)
  const { caller, clock } = context
  try {
    return await work(sandbox, (tx) => appendActivity(tx, clock, { caller }, activityOf(context, operation, subject)))
  } catch (error) {
    // The token was revoked or changed meanwhile.
    throw error instanceof AdmissionChanged ? invalidToken() : error
  }
}

/** The same for what replaces the store, and with it the token of the caller. */
export async function replaceSandbox<T>(
  context: OperatorContext,
  operation: string,
  subject: Subject,
  work: (sandbox: SandboxPort, replacer: Replacer) => Promise<T>,
): Promise<T> {
  const { caller, clock } = context
  return controlSandbox(context, operation, subject, (sandbox) =>
    work(sandbox, {
      confirm: (tx) => confirmAdmission(tx, clock, { caller }),
      record: (tx, time) => insertActivity(tx, { ...activityOf(context, operation, subject), time }),
    }),
  )
}

/** The sandbox, for an operator who sees everything. */
export function sandboxOf({ limits, ports }: OperatorContext): SandboxPort {
  if (limits) throw sandboxNeedsAll()
  if (!ports.sandbox) throw new Error('a row of the sandbox is served where there is none')
  return ports.sandbox
}
