import { type Static, Type } from 'typebox'
import type { OperatorLimits } from '../../../graph/context.ts'
import { defineOperatorRead } from '../../../graph/define.ts'
import { pagingSchema } from '../../../graph/lists/paging.ts'
import { doors, type NewOperation } from '../../../graph/operation.ts'
import type { LoggedRequest } from '../../../graph/ports.ts'
import { exampleTime } from '../examples.ts'
import { readTimestamp, timestampSchema, writeTimestamp } from '../timestamps.ts'

const maxLimit = 1000
const defaultLimit = 100

const orNull = (schema: ReturnType<typeof Type.String>) => Type.Union([schema, Type.Null()])

const requestSchema = Type.Object({
  id: Type.String(),
  time: Type.String({ format: 'date-time' }),
  door: Type.String(),
  operation: Type.String(),
  method: Type.String(),
  target: Type.Optional(
    Type.String({ description: 'Path and query, in a sandbox alone; secrets in it are redacted.' }),
  ),
  status: Type.Integer(),
  error: Type.Union([Type.Object({ code: Type.Integer(), message: Type.String() }), Type.Null()]),
  fault: Type.Optional(
    Type.String({ description: 'The fault rule that it was hit by, as in X-Switchboard-Fault; in a sandbox alone.' }),
  ),
  milliseconds: Type.Number(),
  business_id: orNull(Type.String()),
  app_id: orNull(Type.String()),
  account_id: orNull(Type.String()),
  node_id: orNull(Type.String()),
  remote_address: orNull(Type.String()),
  trace: Type.String(),
  request_headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  request_body: Type.Optional(orNull(Type.String())),
  response_body: Type.Optional(orNull(Type.String())),
})

/** The last requests of the process that responds. */
export function requestOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.list_requests',
      method: 'GET',
      path: '/operator/requests',
      sentence:
        'Lists the last requests of this process at each door, newest first; in a sandbox with headers and bodies, without secrets.',
      input: Type.Object({
        door: Type.Optional(Type.Enum([...doors, 'unknown'], { description: 'Only requests at this door.' })),
        operation: Type.Optional(
          Type.String({ maxLength: 100, description: 'Only this operation, such as messages.send.' }),
        ),
        status: Type.Optional(
          Type.Integer({ minimum: 100, maximum: 599, description: 'Only responses with this status.' }),
        ),
        trace: Type.Optional(Type.String({ maxLength: 100, description: 'Only the request with this trace.' })),
        since: Type.Optional(timestampSchema('Only those since then.')),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: maxLimit, description: `${defaultLimit} when left out.` }),
        ),
      }),
      output: Type.Object({ data: Type.Array(requestSchema), paging: pagingSchema }),
      examples: {
        input: { door: 'business', limit: 1 },
        output: {
          data: [
            {
              id: 'request-4bf92f35-12',
              time: exampleTime,
              door: 'business',
              operation: 'account.read',
              method: 'GET',
              target: '/v23.0/1000000000000001',
              status: 200,
              error: null,
              milliseconds: 0.41,
              business_id: '2000000000000001',
              app_id: '3000000000000001',
              account_id: '1000000000000001',
              node_id: '1000000000000001',
              remote_address: '127.0.0.1',
              trace: '4bf92f3577b34da6a3ce929d0e0e4736',
            },
          ],
          paging: { cursors: {} },
        },
      },
      async run({ ports, limits, clock }, { door, operation, status, trace, since, limit = defaultLimit }) {
        const from = readTimestamp('since', since, clock.now())
        const found = ports
          .listRequests()
          .filter(
            (one) =>
              isRequestSeen(limits, one) &&
              (door === undefined || one.door === door) &&
              (operation === undefined || one.operation === operation) &&
              (status === undefined || one.status === status) &&
              (trace === undefined || one.trace === trace) &&
              (from === undefined || one.time >= from),
          )
        return { data: found.slice(0, limit).map((one) => showRequest(one.whole())), paging: { cursors: {} } }
      },
    }),
  ]
}

export function isRequestSeen(
  limits: OperatorLimits | undefined,
  { business_id, account_id }: Pick<LoggedRequest, 'business_id' | 'account_id'>,
): boolean {
  if (!limits) return true
  return limits.businesses?.has(business_id ?? '') === true || limits.accounts?.has(account_id ?? '') === true
}

function showRequest({ number: _, time, ...request }: LoggedRequest): Static<typeof requestSchema> {
  return { ...request, time: writeTimestamp(time) } as Static<typeof requestSchema>
}
