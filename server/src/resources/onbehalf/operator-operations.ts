import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Transaction } from '../../db/database.ts'
import type { OperatorContext } from '../../graph/context.ts'
import { defineOperatorRead, defineOperatorWrite } from '../../graph/define.ts'
import { badArgument } from '../../graph/define-error.ts'
import { notFound } from '../../graph/errors.ts'
import { writeTimestamp } from '../../graph/input/timestamps.ts'
import { newestFirst, pagingSchema } from '../../graph/lists/paging.ts'
import { createNode } from '../../graph/nodes.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { Recorded } from '../../graph/result.ts'
import { idSchema } from '../../graph/schemas.ts'
import { idsUnknown, listSeenForOperators } from '../operators/public.ts'
import { accountManaged, requestAnswered, requestNamedTwice, requestOfOwner, requestUnnamed } from './errors.ts'
import { onbehalfStatuses, operatorsRequestSchema, settableStatuses } from './schemas.ts'
import {
  findManager,
  findRequestForOperators,
  findWaitingRequest,
  giveAccess,
  insertRequest,
  listRequestsForOperators,
  lockAccess,
  type StoredRequest,
  updateWaitingRequest,
} from './store.ts'

export const exampleRequest = {
  id: '8300000000000001',
  status: 'PENDING' as const,
  business_owned_object: '1000000000000001',
  receiving_business: { id: '2000000000000001', name: 'Lucky Shrub' },
  requesting_business: { id: '2000000000000002', name: 'Green Partner' },
}
const examplePair = { account_id: '1000000000000001', requesting_business_id: '2000000000000002' }
const exampleOutput = { ...exampleRequest, created_time: '2026-06-01T12:00:00.000Z' }

const newRequestSchema = Type.Object({
  account_id: Type.Optional(idSchema({ description: 'The account that somebody asks to manage.' })),
  requesting_business_id: Type.Optional(idSchema({ description: 'The business that asks, other than the owner.' })),
  id: Type.Optional(idSchema({ description: 'A request that is there, instead of these two.' })),
  status: Type.Optional(
    Type.Enum(settableStatuses, {
      description:
        'APPROVE lets the business act on behalf of the owner, DECLINE does not. Left out: PENDING for a new request, unchanged for one that waits.',
    }),
  ),
})
type NewRequest = Static<typeof newRequestSchema>

/** An operator sees who asks, asks for a business, and answers for the owner. */
export function operatorOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.list_onbehalf_requests',
      method: 'GET',
      path: '/operator/onbehalf-requests',
      sentence: "Lists the requests to act on behalf of accounts' owners, in any state, newest first.",
      list: newestFirst(1000),
      input: Type.Object({
        account_id: Type.Optional(idSchema({ description: 'Only those for this account.' })),
        status: Type.Optional(
          Type.Enum(onbehalfStatuses, {
            description: 'Only those in this state.',
            // One of the words is what sentences must not say.
            'x-expects': 'a state of a request, such as PENDING, APPROVE or DECLINE',
          }),
        ),
      }),
      output: Type.Object({ data: Type.Array(operatorsRequestSchema), paging: pagingSchema }),
      examples: {
        input: { account_id: '1000000000000001', limit: 1 },
        output: {
          data: [exampleOutput],
          paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
        },
      },
      async run({ db, limits, page }, { account_id, status }) {
        return page.fetch((range) => listRequestsForOperators(db, limits, { account_id, status }, range), toShown, {
          db,
          table: 'onbehalf_requests',
          by: account_id === undefined ? undefined : sql`account_id = ${account_id}`,
        })
      },
    }),
    defineOperatorWrite({
      name: 'operator.set_onbehalf_request',
      method: 'PUT',
      path: '/operator/onbehalf-requests',
      sentence:
        "Makes a request to act on behalf of an account's owner, unless the business has one that waits, and answers one by its status.",
      input: newRequestSchema,
      output: operatorsRequestSchema,
      examples: { input: examplePair, output: exampleOutput },
      async run(context, input) {
        const { db, limits } = context
        const id = input.id === undefined ? await ensureRequest(context, input) : await findNamed(context, input)
        if (input.status !== undefined) await setStatus(context, id, input.status)
        const request = await findRequestForOperators(db, limits, id)
        if (!request) throw notFound()
        const { account_id, receiving_business_id: business_id } = request
        return new Recorded(toShown(request), { id, kind: 'onbehalf_request', business_id, account_id })
      },
    }),
  ]
}

type Write = OperatorContext<Transaction>

/** The request of that business that waits, or a new one. */
async function ensureRequest(
  { db, limits, clock, random }: Write,
  { account_id, requesting_business_id }: NewRequest,
): Promise<string> {
  if (account_id === undefined) throw badArgument(requestUnnamed('account_id'))
  if (requesting_business_id === undefined) throw badArgument(requestUnnamed('requesting_business_id'))
  const seen = await listSeenForOperators(db, limits, [account_id, requesting_business_id])
  const account = seen.find(({ id, kind }) => id === account_id && kind === 'account')
  if (!account) throw badArgument(idsUnknown('account_id', { ids: [account_id], kind: 'an account' }))
  if (!seen.some(({ id, kind }) => id === requesting_business_id && kind === 'business')) {
    throw badArgument(idsUnknown('requesting_business_id', { ids: [requesting_business_id], kind: 'a business' }))
  }
  const { business_id } = account
  if (requesting_business_id === business_id) throw requestOfOwner()
  lockAccess(db, account_id)
  const waiting = await findWaitingRequest(db, account_id, requesting_business_id)
  if (waiting) return waiting.id
  const id = await createNode(db, random, 'onbehalf_request', { business_id, account_id })
  const parties = { account_id, requesting_business_id, receiving_business_id: business_id }
  await insertRequest(db, { id, ...parties, status: 'PENDING', created_time: clock.now() })
  return id
}

async function findNamed(
  { db, limits }: Write,
  { id = '', account_id, requesting_business_id }: NewRequest,
): Promise<string> {
  const request = await findRequestForOperators(db, limits, id)
  if (!request) throw notFound()
  if ((account_id ?? request.account_id) !== request.account_id) throw badArgument(requestNamedTwice('account_id'))
  if ((requesting_business_id ?? request.requesting_business_id) !== request.requesting_business_id) {
    throw badArgument(requestNamedTwice('requesting_business_id'))
  }
  return id
}

async function setStatus({ db, limits, clock }: Write, id: string, status: NonNullable<NewRequest['status']>) {
  const request = await findRequestForOperators(db, limits, id)
  if (!request) throw notFound()
  const { account_id, requesting_business_id } = request
  lockAccess(db, account_id)
  if (!(await updateWaitingRequest(db, id, status))) {
    const answered = await findRequestForOperators(db, limits, id)
    throw requestAnswered({ status: (answered ?? request).status })
  }
  if (status !== 'APPROVE') return
  const business_id = await findManager(db, account_id)
  if (business_id !== undefined) throw accountManaged({ business_id })
  await giveAccess(db, { account_id, business_id: requesting_business_id, created_time: clock.now() })
}

/** A request in responses. */
export function toRequest(request: StoredRequest) {
  const { id, status, account_id, receiving_business_id, receiving_name, requesting_business_id, requesting_name } =
    request
  return {
    id,
    status: status as (typeof onbehalfStatuses)[number],
    business_owned_object: account_id,
    receiving_business: { id: receiving_business_id, name: receiving_name },
    requesting_business: { id: requesting_business_id, name: requesting_name },
  }
}

function toShown(request: StoredRequest): Static<typeof operatorsRequestSchema> {
  return { ...toRequest(request), created_time: writeTimestamp(request.created_time) }
}
