import type { ErrorStatus } from '../../graph/errors.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import {
  type JsonSchema,
  type MediaType,
  type OperationObject,
  type PathItem,
  type Response,
  refTo,
} from './document.ts'
import { errorResponseName, errorSchemaName } from './errors.ts'

/** A door that needs no proof: what its one GET answers. */
interface OpenDoor {
  readonly name: string
  readonly tag: 'public' | 'operators'
  readonly path: string
  readonly sentence: string
  readonly argument?: {
    readonly name: string
    readonly description: string
    readonly schema: JsonSchema
    readonly example: string
  }
  readonly content: Readonly<Record<string, MediaType>>
  /** Who finds nothing there: people get a page, programs the envelope. */
  readonly missing?: 'page' | 'envelope'
  /** What it answers while it cannot do what it is for. */
  readonly unready?: MediaType
}

const bytes: MediaType = { schema: { type: 'string', format: 'binary' } }
const page: MediaType = { schema: { type: 'string', contentMediaType: 'text/html' } }
const code = { type: 'string', pattern: '^[A-Z0-9]{14}$' }

type Members = Readonly<Record<string, JsonSchema>>

function statusOf(status: string, more: Members = {}, sometimes: Members = {}): MediaType {
  const always = { status: { type: 'string', const: status }, ...more }
  return { schema: { type: 'object', required: Object.keys(always), properties: { ...always, ...sometimes } } }
}

const doors: readonly OpenDoor[] = [
  {
    name: 'public.message',
    tag: 'public',
    path: '/message/{code}',
    sentence: 'Shows the page of a message link.',
    argument: { name: 'code', description: 'The code of the link.', schema: code, example: 'ABCDEFGHIJKLMN' },
    content: { 'text/html': page },
    missing: 'page',
  },
  {
    name: 'public.qr_image',
    tag: 'public',
    path: '/qr/{file}',
    sentence: 'Draws the QR code of a message link.',
    argument: {
      name: 'file',
      description: 'The code of the link, and the format: `.svg` or `.png`.',
      schema: { type: 'string', pattern: '^[A-Z0-9]{14}\\.(svg|png)$' },
      example: 'ABCDEFGHIJKLMN.svg',
    },
    content: { 'image/svg+xml': { schema: { type: 'string' } }, 'image/png': bytes },
    missing: 'page',
  },
  {
    name: 'public.invite',
    tag: 'public',
    path: '/invite/{code}',
    sentence: 'Shows the page of an invite link of a group.',
    argument: {
      name: 'code',
      description: 'The code of the link.',
      schema: { type: 'string', minLength: 1 },
      example: 'AbCdEfGhIjKlMnOpQrStUv',
    },
    content: { 'text/html': page },
    missing: 'page',
  },
  {
    name: 'public.picture',
    tag: 'public',
    path: '/pictures/{id}',
    sentence: "Sends the picture of a number's profile.",
    argument: {
      name: 'id',
      description: 'What `profile_picture_url` ends with.',
      schema: { type: 'string', pattern: '^[\\w-]{1,64}$' },
      example: 'AbCdEfGhIjKlMnOpQrStUv',
    },
    content: { 'image/*': bytes },
    missing: 'envelope',
  },
  {
    name: 'operators.healthz',
    tag: 'operators',
    path: '/healthz',
    sentence: 'Tells that the process is alive.',
    content: { 'application/json': statusOf('alive') },
  },
  {
    name: 'operators.readyz',
    tag: 'operators',
    path: '/readyz',
    sentence: 'Tells whether requests can be answered.',
    content: {
      'application/json': statusOf(
        'ready',
        {},
        {
          warning: { type: 'string', description: 'What cannot be done meanwhile: writing, when the disk is full.' },
        },
      ),
    },
    unready: statusOf('not ready', { reason: { type: 'string' } }),
  },
]

export const openDoorTags = [
  { name: 'public', 'x-displayName': 'What anyone may open' },
  { name: 'operators', 'x-displayName': "The operators' machines" },
] as const

/** The doors that stand open: pages and pictures that a user's phone shows, and the state of the process. */
export function describeOpenDoors(words: Vocabulary): Record<string, PathItem> {
  return Object.fromEntries(doors.map((door) => [door.path, { get: describeDoor(door, words) }]))
}

function describeDoor(door: OpenDoor, words: Vocabulary): OperationObject {
  const { name, tag, sentence, argument, content, missing, unready } = door
  const error = (status: ErrorStatus) => refTo('responses', errorResponseName(status, false, words))
  return {
    operationId: name,
    tags: [tag],
    summary: sentence.replace(/\.$/, ''),
    description: 'Needs no token.',
    security: [],
    parameters: argument ? [{ ...argument, in: 'path', required: true }] : [],
    responses: {
      200: answer('As asked.', content, words),
      400: error(400),
      ...(tag === 'public' && { 403: error(403) }),
      ...(missing === 'envelope' && { 404: error(404) }),
      ...(missing === 'page' && { 404: describeMissing(words) }),
      ...(tag === 'public' && { 429: error(429) }),
      500: error(500),
      ...(unready && { 503: answer('Not now.', { 'application/json': unready }, words) }),
    },
    'x-operations': [{ name, node: 'none', sentence, permission: [], rate_class: null }],
  }
}

function describeMissing(words: Vocabulary): Response {
  const envelope = { schema: refTo('schemas', errorSchemaName(false)) as unknown as JsonSchema }
  const description =
    'Nothing is there, or nothing any more: a page for whoever accepts `text/html`, else the envelope.'
  return answer(description, { 'text/html': page, 'application/json': envelope }, words)
}

function answer(description: string, content: Response['content'], words: Vocabulary): Response {
  return { description, headers: { [words.trace_header]: refTo('headers', words.trace_header) }, content }
}
