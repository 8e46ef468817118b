import { Type } from 'typebox'
import type { CallsTable, PhoneNumbersTable } from '../../db/tables.ts'
import type { GatewayContext } from '../../graph/context.ts'
import { defineGatewayRead, defineGatewayWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import { readTimestamp, timestampSchema } from '../../graph/input/timestamps.ts'
import { newestFirst, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { idSchema, successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { findPerson, openWindow } from '../messages/store.ts'
import { readCallButton } from './call-button.ts'
import { callerBlocked, callerIsNumber, reasonNotTaken } from './errors.ts'
import { exampleOffer } from './examples.ts'
import { periodMilliseconds, readStatus, toStoredPermission } from './permissions.ts'
import { progressCall, startCall } from './progress.ts'
import { checkAnswer, checkCanCall, checkOffer, checkSession } from './rules.ts'
import {
  endReasons,
  expirationTimeSchema,
  gatewayCallSchema,
  givenPermissionStatuses,
  listedCallSchema,
  sessionSchema,
  userActions,
  userWaIdSchema,
} from './schemas.ts'
import { listCall, showCall } from './show.ts'
import {
  addPermissionRequest,
  findCallForGateway,
  findNumberForGateway,
  listCallsForGateway,
  takePermission,
  updatePermission,
} from './store.ts'

const exampleCallId = 'wacid.q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ'

export function callGatewayOperations({ habits }: Vocabulary): NewOperation[] {
  const message_id = Type.Optional(idSchema({ description: 'The message whose button the user called with.' }))
  return [
    defineGatewayWrite({
      name: 'gateway.set_call_permission',
      method: 'POST',
      path: '/gateway/call_permissions',
      sentence: 'Sets whether a user permits calls of a phone number; pending means that the user was asked.',
      input: Type.Object({
        phone_number_id: idSchema({ description: 'The phone number that may call, or not.' }),
        user_wa_id: userWaIdSchema,
        status: Type.Enum(givenPermissionStatuses, { description: 'What the user has decided.' }),
        expiration_time: Type.Optional(expirationTimeSchema),
      }),
      output: successSchema,
      examples: {
        input: { phone_number_id: '4000000000000001', user_wa_id: '16505551234', status: 'granted' },
        output: { success: true },
      },
      async run(context, input) {
        const { db, clock, random, settings } = context
        const now = clock.now()
        const { id: phone_number_id } = await requireNumber(context, input.phone_number_id)
        const pair = { phone_number_id, user_wa_id: input.user_wa_id }
        const before = readStatus(await takePermission(db, pair), now)
        await updatePermission(db, toStoredPermission(input, settings, now))
        // Reported twice, it is still one request.
        if (input.status === 'pending' && before !== 'pending') {
          const countsSince = now - periodMilliseconds['7d']
          await addPermissionRequest(db, pair, { id: random.trace(), sent_time: now, countsSince })
        }
        return { success: true }
      },
    }),
    defineGatewayWrite({
      name: 'gateway.start_call',
      method: 'POST',
      path: '/gateway/calls',
      sentence: 'Starts a call of a user to a phone number.',
      input: Type.Object({
        phone_number_id: idSchema({ description: 'The phone number that is called.' }),
        from: userWaIdSchema,
        name: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'The name of the user.' })),
        session: sessionSchema,
        ...(habits.more_message_forms && { message_id }),
      }),
      output: Type.Object({ call_id: Type.String() }),
      examples: {
        input: {
          phone_number_id: '4000000000000001',
          from: '16505551238',
          name: 'Ada',
          session: { sdp_type: 'offer', sdp: exampleOffer },
        },
        output: { call_id: exampleCallId },
      },
      async run(context, input) {
        const { db, clock, settings } = context
        const { phone_number_id, from, name, session } = input
        const { message_id } = input as { message_id?: string }
        checkOffer(session, settings)
        const number = await requireNumber(context, phone_number_id)
        checkCanCall(number)
        const { isNumber, isBlocked } = await findPerson(db, number.id, from)
        if (isNumber) throw callerIsNumber()
        if (isBlocked) throw callerBlocked()
        const cta_payload =
          message_id === undefined ? undefined : await readCallButton(context, number.id, from, message_id)
        await openWindow(db, number.id, from, clock.now())
        const call = { direction: 'USER_INITIATED', user_wa_id: from, user_name: name, session, cta_payload } as const
        return { call_id: await startCall(context, number, call) }
      },
    }),
    defineGatewayRead({
      name: 'gateway.read_call',
      method: 'GET',
      path: '/gateway/calls/{call_id}',
      sentence: 'Reads a call, with the session descriptions of both sides so far and what is wrong with them.',
      input: Type.Object({ call_id: idSchema({ description: 'The id of the call.' }) }),
      output: gatewayCallSchema,
      examples: {
        input: { call_id: exampleCallId },
        output: {
          id: exampleCallId,
          phone_number_id: '4000000000000001',
          user_wa_id: '16505551238',
          direction: 'USER_INITIATED',
          state: 'initiated',
          created_time: '2026-06-01T12:00:00.000Z',
          sdp: { user: exampleOffer },
          findings: [],
        },
        first: [{ send: 'gateway.start_call', take: { pointer: '/call_id', as: 'call_id' } }],
      },
      async run(context, { call_id }) {
        return showCall((await requireCall(context, call_id)).call, context.settings)
      },
    }),
    defineGatewayRead({
      name: 'gateway.list_calls',
      method: 'GET',
      path: '/gateway/calls',
      sentence: 'Lists calls between users and phone numbers, newest first, without session descriptions.',
      list: newestFirst(100),
      input: Type.Object({
        user_wa_id: Type.Optional(userWaIdSchema),
        phone_number_id: Type.Optional(idSchema({ description: 'Only calls with this phone number.' })),
        since: Type.Optional(timestampSchema('Only calls that began since then.')),
        until: Type.Optional(timestampSchema('Only calls that began before then.')),
      }),
      output: Type.Object({ data: Type.Array(listedCallSchema), paging: pagingSchema }),
      examples: {
        input: { user_wa_id: '16505551238' },
        output: {
          data: [
            {
              id: exampleCallId,
              phone_number_id: '4000000000000001',
              user_wa_id: '16505551238',
              direction: 'USER_INITIATED',
              state: 'ended',
              ending: 'completed',
              created_time: '2026-06-01T12:00:00.000Z',
              accepted_time: '2026-06-01T12:00:04.000Z',
              ended_time: '2026-06-01T12:01:00.000Z',
            },
          ],
          paging: { cursors: {} },
        },
      },
      async run({ db, caller, page }, { since, until, ...filter }) {
        const period = {
          since: readTimestamp('since', since, page.now),
          until: readTimestamp('until', until, page.now),
        }
        return page.fetch(
          (range) => listCallsForGateway(db, caller.gateway_accounts, { ...filter, ...period }, range),
          listCall,
        )
      },
    }),
    defineGatewayWrite({
      name: 'gateway.act_on_call',
      method: 'POST',
      path: '/gateway/calls/{call_id}',
      sentence: "Reports what a user's phone did with a call: it rings, accepts, rejects or terminates.",
      input: Type.Object({
        call_id: idSchema({ description: 'The id of the call.' }),
        action: Type.Enum(userActions, {
          description: "What the user's phone does: it rings, takes the call, declines it, or ends it.",
        }),
        session: Type.Optional(sessionSchema),
        reason: Type.Optional(
          Type.Enum(endReasons, {
            description:
              'With terminate, why the phone ends the call by itself: no sound came, or the connection was lost.',
          }),
        ),
      }),
      output: successSchema,
      examples: {
        input: { call_id: exampleCallId, action: 'reject' },
        output: { success: true },
        first: [{ send: 'calls.act', take: { pointer: '/calls/0/id', as: 'call_id' } }],
      },
      async run(context, { call_id, action, session, reason }) {
        checkSession(action, session, context.settings)
        if (reason !== undefined && action !== 'terminate') throw reasonNotTaken({ action })
        const { call, number } = await requireCall(context, call_id)
        await progressCall(context, number, call, {
          side: 'user',
          action,
          session,
          end_reason: reason,
          check: (found) => checkAnswer(found, session, context.settings),
        })
        return { success: true }
      },
    }),
  ]
}

async function requireNumber({ db, sees }: GatewayContext, id: string): Promise<PhoneNumbersTable> {
  const number = await findNumberForGateway(db, id)
  if (!number || !sees(number.account_id)) throw notFound()
  return number
}

async function requireCall(
  context: GatewayContext,
  id: string,
): Promise<{ call: CallsTable; number: PhoneNumbersTable }> {
  const call = await findCallForGateway(context.db, id)
  if (!call) throw notFound()
  return { call, number: await requireNumber(context, call.phone_number_id) }
}
