import { type ErrorStatus, errorStatuses } from '../../graph/errors.ts'
import type { GatewayOperation } from '../../graph/gateway-operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { placeholdersOf } from '../route-table.ts'
import {
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
  type Parameter,
  type RequestBody,
  type Response,
  refTo,
} from './document.ts'
import { describeErrorResponse, describeErrorSchema, errorResponseName, errorSchemaName } from './errors.ts'
import { explainExample } from './examples.ts'
import { describeHeaders, outageHeader } from './headers.ts'
import { describeOpenDoors, openDoorTags } from './open-doors.ts'
import { describeEnvelopeSchema, describeReceiver, describeReceiverSecurity, envelopeSchemaName } from './receiver.ts'
import { toFormExample, toFormSchema, toJsonSchema } from './schemas.ts'

export interface GatewayOpenApiOptions {
  readonly operations: readonly GatewayOperation[]
  readonly words: Vocabulary
  readonly serverUrl: string
  readonly packageVersion: string
}

/** The gateway counts wrong tokens alone, so it tells no usage. */
const gatewayErrors: readonly ErrorStatus[] = errorStatuses

/** The table of the gateway's operations as an OpenAPI 3.1 document of its own: its callers are not those of the API. */
export function buildGatewayOpenApi({
  operations,
  words,
  serverUrl,
  packageVersion,
}: GatewayOpenApiOptions): OpenApiDocument {
  const byPath = Map.groupBy(operations, ({ path }) => path)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Switchboard gateway',
      summary: "The users' half of the platform.",
      description:
        "The network's edge acts here for the users' phones: it grants call permissions, calls, answers, and joins groups, and hands in what users write. So do tests and virtual phones. Every request carries a token with the scope `gateway`; events may carry the signature of an app instead, and what a link or a picture opens is open to anyone.",
      version: packageVersion,
    },
    servers: [{ url: serverUrl }],
    security: [{ bearer: [] }],
    tags: [
      { name: 'gateway', 'x-displayName': 'Gateway' },
      { name: 'receiver', 'x-displayName': 'Receiver of events' },
      ...openDoorTags,
    ],
    paths: {
      ...Object.fromEntries(
        [...byPath].map(([path, rows]) => [
          path,
          Object.fromEntries(rows.map((row) => [row.method.toLowerCase(), describeGatewayOperation(row, words)])),
        ]),
      ),
      ...describeReceiver(words),
      ...describeOpenDoors(words),
    },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token with the scope `gateway`: `./switchboard token create --app ID --scope gateway`.',
        },
        ...describeReceiverSecurity(words),
      },
      parameters: {},
      headers: onlyHeaders(words),
      responses: Object.fromEntries(
        gatewayErrors.map((status) => [
          errorResponseName(status, false, words),
          withoutUsage(describeErrorResponse(status, false, words)),
        ]),
      ),
      schemas: {
        [errorSchemaName(false)]: describeErrorSchema(false, words),
        [envelopeSchemaName]: describeEnvelopeSchema(words),
      },
    },
  }
}

function describeGatewayOperation(row: GatewayOperation, words: Vocabulary): OperationObject {
  const schema = toJsonSchema(row.input)
  const inPath = placeholdersOf(row.path)
  const parameters = describeParameters(row, schema, inPath)
  const requestBody = row.method === 'POST' ? describeRequestBody(row, schema, inPath) : undefined
  return {
    operationId: row.name,
    tags: ['gateway'],
    summary: row.sentence.replace(/\.$/, ''),
    description: ['Needs the scope `gateway`.', explainExample(row.examples)].filter(Boolean).join(' '),
    parameters,
    ...(requestBody && { requestBody }),
    responses: {
      200: {
        description: 'Done as asked.',
        headers: { [words.trace_header]: refTo('headers', words.trace_header) },
        content: {
          'application/json': {
            schema: toJsonSchema(row.output),
            examples: { [row.name]: { summary: row.sentence, value: row.examples.output } },
          },
        },
      },
      ...Object.fromEntries(
        gatewayErrors.map((status) => [status, refTo('responses', errorResponseName(status, false, words))]),
      ),
    },
    'x-operations': [
      { name: row.name, node: 'none', sentence: row.sentence, permission: ['gateway'], rate_class: null },
    ],
  }
}

function membersOf(schema: JsonSchema): [string, JsonSchema][] {
  return Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
}

function describeParameters(row: GatewayOperation, schema: JsonSchema, inPath: readonly string[]): Parameter[] {
  const required = (schema['required'] ?? []) as readonly string[]
  return membersOf(schema)
    .filter(([name]) => inPath.includes(name) || row.method === 'GET')
    .map(([name, member]) => {
      const example = row.examples.input?.[name]
      return {
        name,
        in: inPath.includes(name) ? ('path' as const) : ('query' as const),
        required: inPath.includes(name) || required.includes(name),
        description: String(member['description'] ?? `The ${name.replaceAll('_', ' ')}.`),
        schema: member,
        ...(typeof example === 'string' && { example }),
      }
    })
}

function describeRequestBody(
  row: GatewayOperation,
  schema: JsonSchema,
  inPath: readonly string[],
): RequestBody | undefined {
  const members = membersOf(schema).filter(([name]) => !inPath.includes(name))
  if (members.length === 0) return undefined
  const required = ((schema['required'] ?? []) as string[]).filter((name) => !inPath.includes(name))
  const body: JsonSchema = {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(members),
  }
  const given = Object.entries(row.examples.input ?? {}).filter(([name]) => !inPath.includes(name))
  const example = Object.fromEntries(given)
  const form = { schema: toFormSchema(body), examples: { [row.name]: { value: toFormExample(example) } } }
  return {
    required: required.length > 0,
    description: 'Arguments may also come in the query; the body wins.',
    content: {
      'application/json': { schema: body, examples: { [row.name]: { value: example } } },
      'application/x-www-form-urlencoded': form,
      'multipart/form-data': form,
    },
  }
}

function onlyHeaders(words: Vocabulary) {
  const all = describeHeaders(words)
  const names = [words.trace_header, 'Retry-After', 'WWW-Authenticate', outageHeader]
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
}

function withoutUsage(response: Response): Response {
  const headers = Object.entries(response.headers).filter(([name]) => !name.endsWith('-Usage'))
  return { ...response, headers: Object.fromEntries(headers) }
}
