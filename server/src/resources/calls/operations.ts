import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import type { Transaction } from '../../db/database.ts'
import type { Context } from '../../graph/context.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { findPhoneNumber } from '../phone-numbers/store.ts'
import { callIsOpen, noOpenCall } from './errors.ts'
import { exampleOffer } from './examples.ts'
import { callGatewayOperations } from './gateway.ts'
import { checkCallLimit, checkPermission, describePermission, noLimits, periodMilliseconds } from './permissions.ts'
import { progressCall, ringOutTimer, startCall } from './progress.ts'
import { makeRingOutHandler } from './ring-out.ts'
import { checkAnswer, checkAnswerIsGiven, checkCallRequest, checkCanCall } from './rules.ts'
import { type CallRequest, callAnswerSchema, callRequestSchema, permissionSchema, userWaIdSchema } from './schemas.ts'
import {
  countPermissionRequests,
  countStartedCalls,
  findCall,
  findOpenCall,
  findPermission,
  lockPermission,
} from './store.ts'
import { permissionEntries } from './world.ts'

export const callsChapter: Chapter = {
  name: 'calls',
  title: 'Calls',
  rows: (vocabulary) => [...callOperations(vocabulary), ...callGatewayOperations(vocabulary)],
  timers: (deps) => ({ [ringOutTimer]: makeRingOutHandler(deps) }),
  world: [permissionEntries],
  leftOutOfWorld: { calls: 'calls' },
}

function callOperations(vocabulary: Vocabulary): NewOperation[] {
  return [
    defineRead({
      name: 'calls.read_permission',
      method: 'GET',
      path: '/{Version}/{Phone-Number-ID}/call_permissions',
      sentence: 'Reads whether a user permits calls of a phone number, and which actions are possible now.',
      permission: 'messaging',
      rateClass: 'call_permissions',
      errors: [400, 401, 403, 404, 429, 500],
      input: Type.Object({ user_wa_id: userWaIdSchema }),
      output: permissionSchema(vocabulary),
      examples: {
        input: { user_wa_id: '16505551234' },
        output: {
          messaging_product: vocabulary.product,
          permission: { status: 'granted', expiration_time: 1893456000 },
          actions: [
            {
              action_name: 'start_call',
              can_perform_action: true,
              limits: [{ time_period: '24h', current_usage: 1, max_allowed: 100, limit_expiration_time: 1780401600 }],
            },
            { action_name: 'send_call_permission_request', can_perform_action: false, limits: noLimits(vocabulary) },
          ],
        },
      },
      async run({ db, node, clock, settings }, { user_wa_id }) {
        const now = clock.now()
        const pair = { phone_number_id: node.id, user_wa_id }
        const usage = {
          calls: await countStartedCalls(db, pair, now - periodMilliseconds['24h']),
          requestsOfDay: await countPermissionRequests(db, pair, now - periodMilliseconds['24h']),
          requestsOfWeek: await countPermissionRequests(db, pair, now - periodMilliseconds['7d']),
        }
        return describePermission(vocabulary, settings, await findPermission(db, pair), usage, now)
      },
    }),
    defineWrite({
      name: 'calls.act',
      method: 'POST',
      path: '/{Version}/{Phone-Number-ID}/calls',
      sentence: 'Starts a call to a user, or accepts, rejects or terminates one.',
      permission: 'messaging',
      input: callRequestSchema(vocabulary),
      output: callAnswerSchema(vocabulary),
      examples: {
        input: {
          messaging_product: vocabulary.product,
          action: 'connect',
          to: '16505551234',
          session: { sdp_type: 'offer', sdp: exampleOffer },
          biz_opaque_callback_data: 'order-1042',
        },
        output: {
          messaging_product: vocabulary.product,
          calls: [{ id: 'wacid.q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ' }],
        },
      },
      async run(context, input) {
        checkCallRequest(input, vocabulary, context.settings)
        if (input.action === 'connect') return connect(context, input)
        await act(context, input)
        return input.action === 'terminate'
          ? { success: true }
          : { messaging_product: vocabulary.product, success: true }
      },
    }),
  ]
}

/** Starts a call, if the user permits it and the number has not reached its limit. */
async function connect(context: Context<Transaction>, { to = '', session, biz_opaque_callback_data }: CallRequest) {
  const { db, node, clock, vocabulary, settings } = context
  const now = clock.now()
  const number = await findPhoneNumber(db, node)
  checkCanCall(number)
  const pair = { phone_number_id: node.id, user_wa_id: to }
  checkPermission(await lockPermission(db, pair), now)
  if (await findOpenCall(db, node, to)) throw callIsOpen()
  const used = await countStartedCalls(db, pair, now - periodMilliseconds['24h'])
  checkCallLimit(used, settings.maxCallsPerDay, now)
  const call = { direction: 'BUSINESS_INITIATED', user_wa_id: to, session, biz_opaque_callback_data } as const
  return { messaging_product: vocabulary.product, calls: [{ id: await startCall(context, number, call) }] }
}

/** Applies an action to an existing call. */
async function act(context: Context<Transaction>, input: CallRequest): Promise<void> {
  const { db, node, settings } = context
  const { action, session, biz_opaque_callback_data } = input
  if (action === 'connect') throw new Error('connect starts a call, it is no step of one')
  const number = await findPhoneNumber(db, node)
  // A call can always be ended, even if its number has since left the platform.
  if (action === 'pre_accept' || action === 'accept') checkCanCall(number)
  await progressCall(context, number, await findMeant(context, input), {
    side: 'business',
    action,
    session,
    biz_opaque_callback_data,
    check(call) {
      if (action === 'accept') checkAnswerIsGiven(call, session)
      checkAnswer(call, session, settings)
    },
  })
}

async function findMeant({ db, node }: Context<Transaction>, { call_id, to = '' }: CallRequest) {
  if (call_id === undefined) {
    const open = await findOpenCall(db, node, to)
    if (!open) throw noOpenCall()
    return open
  }
  const call = await findCall(db, node, call_id)
  if (!call) throw notFound()
  return call
}
