import { Type } from 'typebox'
import type { OperatorLimits } from '../../../graph/context.ts'
import { defineOperatorRead } from '../../../graph/define.ts'
import { readTimestamp, timestampSchema, writeTimestamp } from '../../../graph/input/timestamps.ts'
import { type ListOptions, newestFirst, type PagePosition, pagingSchema } from '../../../graph/lists/paging.ts'
import { doors, type NewOperation } from '../../../graph/operation.ts'
import type { KeptRequest, LoggedRequest } from '../../../graph/ports.ts'
import { idSchema } from '../../../graph/schemas.ts'
import { exampleTime } from '../examples.ts'

/** By the number of each, because a clock may be set back. */
const requestList: ListOptions = { ...newestFirst(1000, 'number'), defaultLimit: 100 }

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
  phone_number_id: Type.Union([Type.String(), Type.Null()], { description: 'The number that the path names.' }),
  node_id: orNull(Type.String()),
  remote_address: orNull(Type.String()),
  by_console: Type.Boolean({ description: 'Whether a page of the console sent it, for itself or for an app.' }),
  trace: Type.String(),
  request_headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  request_body: Type.Optional(orNull(Type.String())),
  response_body: Type.Optional(orNull(Type.String())),
})

const fields = Object.keys(requestSchema.properties)
/** What is read from the bytes of a request, and only where it is asked for. */
const bodyFields: readonly string[] = ['target', 'request_headers', 'request_body', 'response_body']

/** The last requests of the process that responds. */
export function requestOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.list_requests',
      method: 'GET',
      path: '/operator/requests',
      sentence:
        'Lists the last requests of this process at each door, newest first; in a sandbox with headers and bodies, without secrets. With fields, of target, headers and bodies only those that it names.',
      list: requestList,
      fields: { available: fields, defaults: fields, mode: 'replace' },
      input: Type.Object({
        door: Type.Optional(Type.Enum([...doors, 'unknown'], { description: 'Only requests at this door.' })),
        operation: Type.Optional(
          Type.String({ maxLength: 100, description: 'Only this operation, such as messages.send.' }),
        ),
        status: Type.Optional(
          Type.Integer({ minimum: 100, maximum: 599, description: 'Only responses with this status.' }),
        ),
        errors: Type.Optional(Type.Boolean({ description: 'Only responses with a status of 400 or above.' })),
        phone_number_id: Type.Optional(idSchema({ description: 'Only requests whose path names this number.' })),
        trace: Type.Optional(Type.String({ maxLength: 100, description: 'Only the request with this trace.' })),
        since: Type.Optional(timestampSchema('Only those since then.')),
        until: Type.Optional(timestampSchema('Only those before then.')),
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
              phone_number_id: null,
              node_id: '1000000000000001',
              remote_address: '127.0.0.1',
              by_console: false,
              trace: '4bf92f3577b34da6a3ce929d0e0e4736',
            },
          ],
          paging: { cursors: {} },
        },
      },
      async run({ ports, limits, page, fields: asked = fields }, { since, until, ...filter }) {
        const period = {
          since: readTimestamp('since', since, page.now),
          until: readTimestamp('until', until, page.now),
        }
        const found = ports
          .listRequests()
          .filter((one) => isRequestSeen(limits, one) && matches(one, { ...filter, ...period }))
        // At once: what is kept of a request is written over by the next ones.
        return page.fetch(
          async ({ position }) => pick(found, position),
          (one) => showRequest(one, asked),
        )
      },
    }),
  ]
}

interface RequestFilter {
  readonly door?: string
  readonly operation?: string
  readonly status?: number
  readonly errors?: boolean
  readonly phone_number_id?: string
  readonly trace?: string
  readonly since: number | undefined
  readonly until: number | undefined
}

function matches(one: KeptRequest, { errors, since, until, ...filter }: RequestFilter): boolean {
  const equal = ['door', 'operation', 'status', 'phone_number_id', 'trace'] as const
  return (
    equal.every((name) => filter[name] === undefined || one[name] === filter[name]) &&
    (errors !== true || one.status >= 400) &&
    (since === undefined || one.time >= since) &&
    (until === undefined || one.time < until)
  )
}

/** Some of the requests, of which the newest is the first. */
function pick(found: readonly KeptRequest[], { side, from, limit }: PagePosition): KeptRequest[] {
  const number = from ? Number(from[0]) : Number.POSITIVE_INFINITY
  if (side === 'after') return found.filter((one) => one.number < number).slice(0, limit)
  return found
    .filter((one) => one.number > number)
    .reverse()
    .slice(0, limit)
}

export function isRequestSeen(
  limits: OperatorLimits | undefined,
  { business_id, account_id }: Pick<LoggedRequest, 'business_id' | 'account_id'>,
): boolean {
  if (!limits) return true
  return limits.businesses?.has(business_id ?? '') === true || limits.accounts?.has(account_id ?? '') === true
}

function showRequest(request: KeptRequest, asked: readonly string[]): Record<string, unknown> {
  const isLeftOut = (name: string) => bodyFields.includes(name) && !asked.includes(name)
  const whole = asked.some((name) => bodyFields.includes(name)) ? request.whole() : request
  const shown: Readonly<Record<string, unknown>> = { ...whole, time: writeTimestamp(request.time) }
  return Object.fromEntries(
    fields.flatMap((name) => (shown[name] === undefined || isLeftOut(name) ? [] : [[name, shown[name]]])),
  )
}
