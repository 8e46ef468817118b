import type { ErrorStatus } from '../../graph/graph-error.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { describeEnvelope } from '../../resources/webhooks/envelope-schemas.ts'
import {
  type JsonSchema,
  type OperationObject,
  type Parameter,
  type PathItem,
  type Response,
  refTo,
  type SecurityScheme,
} from './document.ts'
import { errorResponseName } from './errors.ts'
import { toJsonSchema } from './schemas.ts'

export const envelopeSchemaName = 'Envelope'

const handshakeErrors: readonly ErrorStatus[] = [400, 403, 429, 500]
const postErrors: readonly ErrorStatus[] = [400, 401, 403, 404, 429, 500]

/** Where the network's edge hands in events: its path and what can be done there. */
export function describeReceiver(vocabulary: Vocabulary): Record<string, PathItem> {
  return { [`/${vocabulary.product}/webhooks`]: { get: describeHandshake(vocabulary), post: describePost(vocabulary) } }
}

export function describeEnvelopeSchema(vocabulary: Vocabulary): JsonSchema {
  return { title: envelopeSchemaName, ...toJsonSchema(describeEnvelope(vocabulary)) }
}

/** How a post is proved to come from somebody who may hand it in, besides the token. */
export function describeReceiverSecurity(vocabulary: Vocabulary): Record<string, SecurityScheme> {
  return {
    hub_signature: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Hub-Signature-256',
      description:
        '`sha256=` and the HMAC-SHA256 of the exact bytes of the body, in hexadecimal, with the secret of an app that is linked to every account in it and whose business has access to them. Looked at only where there is no `Authorization`. A post that is proven so is taken once: sent again, it is answered 200 and not passed on. Where `webhook-signature` is sent as well, `webhook-id`, `webhook-timestamp` and it must be as the Standard Webhooks convention says, and the timestamp at most 5 minutes off; the post is then known by its id.',
    },
    ...(vocabulary.habits.token_in_query && {
      access_token: { type: 'apiKey', in: 'query', name: 'access_token', description: 'The same token, in the query.' },
    }),
  }
}

function describeHandshake(vocabulary: Vocabulary): OperationObject {
  const sentence = 'Answers a verify token that an app is subscribed with by the challenge.'
  return {
    operationId: 'receiver.handshake',
    tags: ['receiver'],
    summary: withoutStop(sentence),
    description: 'Needs no token: the verify token is the proof.',
    security: [],
    parameters: [
      question('hub.mode', 'It must be `subscribe`.', { type: 'string', const: 'subscribe' }, 'subscribe'),
      question('hub.verify_token', 'One that an app of this service chose.', text, 'shrub-verify-token'),
      question('hub.challenge', 'Any text; it comes back as it is.', text, '1158201444'),
    ],
    responses: {
      200: {
        description: 'The challenge.',
        headers: traceHeader(vocabulary),
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
      ...describeErrors(handshakeErrors, vocabulary),
    },
    'x-operations': [{ name: 'receiver.handshake', node: 'none', sentence, permission: [], rate_class: null }],
  }
}

const text: JsonSchema = { type: 'string', minLength: 1 }

function question(name: string, description: string, schema: JsonSchema, example: string): Parameter {
  return { name, in: 'query', required: true, description, schema, example }
}

function describePost(vocabulary: Vocabulary): OperationObject {
  const sentence = 'Takes events of accounts and passes them on to the apps that are linked to these.'
  const proofs = ['bearer', ...Object.keys(describeReceiverSecurity(vocabulary))]
  return {
    operationId: 'receiver.post',
    tags: ['receiver'],
    summary: withoutStop(sentence),
    description:
      'Needs a token with the scope `gateway`, or the signature of an app that is linked to every account in the envelope. All of an envelope is taken or nothing; a message or a status that was handed in before is passed on once.',
    security: proofs.map((name) => ({ [name]: [] })),
    parameters: [],
    requestBody: {
      required: true,
      description: 'Members that are not named pass on as they came.',
      content: {
        'application/json': {
          schema: refTo('schemas', envelopeSchemaName) as unknown as JsonSchema,
          examples: {
            'receiver.post': { summary: 'A user writes to a business.', value: exampleEnvelope(vocabulary) },
          },
        },
      },
    },
    responses: {
      200: describeTaken(vocabulary),
      ...describeErrors(postErrors, vocabulary),
    },
    'x-operations': [{ name: 'receiver.post', node: 'none', sentence, permission: ['gateway'], rate_class: null }],
  }
}

function describeTaken(vocabulary: Vocabulary): Response {
  const schema = {
    type: 'object',
    required: ['success'],
    properties: { success: { type: 'boolean', const: true } },
  }
  return {
    description: 'Every event is kept; it is passed on from now on.',
    headers: traceHeader(vocabulary),
    content: { 'application/json': { schema, examples: { 'receiver.post': { value: { success: true } } } } },
  }
}

/** Ids of the demo world, so that the example works when it is tried. */
function exampleEnvelope(vocabulary: Vocabulary): object {
  const message = { from: '16505551234', id: 'wamid.1', timestamp: '1780315200', type: 'text', text: { body: 'Hello' } }
  const value = {
    messaging_product: vocabulary.product,
    metadata: { display_phone_number: '16315551001', phone_number_id: '4000000000000001' },
    contacts: [{ profile: { name: 'Ada' }, wa_id: '16505551234' }],
    messages: [message],
  }
  return {
    object: vocabulary.account_object,
    entry: [{ id: '1000000000000001', changes: [{ field: 'messages', value }] }],
  }
}

function traceHeader(vocabulary: Vocabulary) {
  return { [vocabulary.trace_header]: refTo('headers', vocabulary.trace_header) }
}

function describeErrors(statuses: readonly ErrorStatus[], vocabulary: Vocabulary) {
  const references = statuses.map((status) => [
    status,
    refTo('responses', errorResponseName(status, false, vocabulary)),
  ])
  return Object.fromEntries(references)
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}
