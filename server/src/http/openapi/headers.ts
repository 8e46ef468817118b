import type { ErrorStatus } from '../../graph/graph-error.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { rateClasses } from '../../limits/classes.ts'
import { type Header, type Reference, refTo } from './document.ts'

const percent = { type: 'integer', minimum: 0, maximum: 100 }

/** The component name of the Retry-After of a 500, which is optional; that of a 429 is always sent. */
const outageHeader = 'Outage-Retry-After'

/** Every header that a response may have, by name; `counted`: only where calls are counted. */
export function describeHeaders(vocabulary: Vocabulary, counted: boolean): Record<string, Header> {
  const all = describeAll(vocabulary)
  if (counted) return all
  return Object.fromEntries(Object.entries(all).filter(([name]) => !countedHeaders.includes(name)))
}

const countedHeaders = ['X-App-Usage', 'X-Business-Use-Case-Usage']

function describeAll(vocabulary: Vocabulary): Record<string, Header> {
  return {
    [vocabulary.trace_header]: {
      description: 'The trace of the request: the one of a well-formed `traceparent`, or a new one.',
      required: true,
      schema: { type: 'string' },
    },
    'X-App-Usage': {
      description: 'How much of the limit of every call is used up, in percent. Absent where limits are off.',
      content: {
        'application/json': {
          schema: { type: 'object', required: ['call_count'], properties: { call_count: percent } },
        },
      },
    },
    'X-Business-Use-Case-Usage': {
      description:
        "How much of the operation's own limit is used up, by the id of the account or business. Absent where limits are off.",
      content: {
        'application/json': {
          schema: {
            type: 'object',
            additionalProperties: {
              type: 'array',
              items: {
                type: 'object',
                required: ['type', 'call_count', 'estimated_time_to_regain_access'],
                properties: {
                  type: { type: 'string', enum: Object.keys(rateClasses), description: 'The rate class.' },
                  call_count: { ...percent, description: 'Percent used.' },
                  estimated_time_to_regain_access: {
                    type: 'integer',
                    minimum: 0,
                    description: 'Minutes until calls are taken again; 0 while they are.',
                  },
                },
              },
            },
          },
        },
      },
    },
    'Retry-After': {
      description: 'Seconds to wait before the next attempt.',
      required: true,
      schema: { type: 'integer', minimum: 1 },
    },
    [outageHeader]: {
      description: 'Seconds to wait before the next attempt; only while the database cannot be reached or written.',
      schema: { type: 'integer', minimum: 1 },
    },
    'WWW-Authenticate': {
      description: 'How to authenticate.',
      required: true,
      schema: { type: 'string', const: 'Bearer' },
    },
  }
}

/** The headers of a response. A request refused before it is counted does not report the usage. */
export function headersOf(
  status: 200 | ErrorStatus,
  vocabulary: Vocabulary,
  counted = true,
): Record<string, Reference> {
  const names = [vocabulary.trace_header]
  if (status === 401) names.push('WWW-Authenticate')
  else if (status === 429) names.push('Retry-After')
  else if (counted) names.push('X-App-Usage', 'X-Business-Use-Case-Usage')
  const headers = Object.fromEntries(names.map((name) => [name, refTo('headers', name)]))
  return status === 500 ? { ...headers, 'Retry-After': refTo('headers', outageHeader) } : headers
}
