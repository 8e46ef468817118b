import { lacksPermission, writePermission } from '../../auth/scopes.ts'
import { badArgument } from '../../graph/define-error.ts'
import {
  argumentWrong,
  cannotReachStore,
  cannotStore,
  internalFault,
  invalidToken,
  missingToken,
  notFound,
  storeBusy,
} from '../../graph/errors.ts'
import type { ErrorStatus, GraphError } from '../../graph/graph-error.ts'
import { renderError, usualForm } from '../../graph/shown-errors/render-error.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { addressClasses, describeLimit, rateClasses } from '../../limits/classes.ts'
import { numberVerified } from '../../resources/phone-numbers/errors.ts'
import { bodyNotAnObject } from '../errors.ts'
import { type JsonSchema, type Response, refTo } from './document.ts'
import { headersOf } from './headers.ts'

const exampleTrace = '4bf92f3577b34da6a3ce929d0e0e4736'

interface ErrorKind {
  /** The component name of the response. */
  readonly name: string
  readonly description: string
  /** Created on demand: an error is expensive to create, and most callers need only its name. */
  readonly makeSamples: () => Readonly<Record<string, GraphError>>
}

/** One entry for each status; the samples come from the catalogue itself, so they are what a caller would see. */
function errorKinds(vocabulary: Vocabulary): Record<ErrorStatus, ErrorKind> {
  return {
    400: {
      name: 'BadRequest',
      description: 'An argument is missing or wrong, or the request cannot be read.',
      makeSamples: () => ({
        argument: badArgument(argumentWrong('limit', { expected: 'an integer from 1 to 100' })),
        request: bodyNotAnObject(),
      }),
    },
    401: {
      name: 'Unauthorized',
      description: 'The access token is missing, unknown, expired or revoked.',
      makeSamples: () => ({ missing: missingToken(), invalid: invalidToken() }),
    },
    403: {
      name: 'Forbidden',
      description: 'The token sees the node but lacks the permission, or a browser asks for another website.',
      makeSamples: () => ({ permission: lacksPermission(writePermission('management', vocabulary)) }),
    },
    404: {
      name: 'NotFound',
      description: 'The id does not exist, or is not visible to this token: both get the same answer.',
      makeSamples: () => ({ unknown: notFound() }),
    },
    422: {
      name: 'Unprocessable',
      description: 'The request is well-formed, but a rule of the business forbids it.',
      makeSamples: () => ({ rule: numberVerified() }),
    },
    429: {
      name: 'TooManyRequests',
      description: 'A rate limit is reached; try again after the seconds in Retry-After.',
      makeSamples: () => ({
        platform: rateClasses.platform.error({
          ...describeLimit(rateClasses.platform.rates[0], rateClasses.platform.sentence),
          seconds: 1800,
        }),
        failures: addressClasses.failures.error({
          count: 100,
          period: '1m',
          counted: 'wrong tokens, secrets of apps and their proofs, signatures and verify tokens, per address',
          seconds: 30,
        }),
      }),
    },
    500: {
      name: 'ServerError',
      description: 'Something went wrong on the side of the service; try again with exponential backoff.',
      makeSamples: () => ({
        fault: internalFault(),
        nothing_stored: cannotStore({ seconds: 30 }),
        database_gone: cannotReachStore({ seconds: 5 }),
        database_busy: storeBusy({ seconds: 5 }),
      }),
    },
  }
}

/** The component reference of a status. */
export function errorResponseName(status: ErrorStatus, brief: boolean, vocabulary: Vocabulary): string {
  return `${brief ? 'Brief' : ''}${errorKinds(vocabulary)[status].name}`
}

export function describeErrorResponse(
  status: ErrorStatus,
  brief: boolean,
  vocabulary: Vocabulary,
  counted: boolean,
): Response {
  const { description } = errorKinds(vocabulary)[status]
  const form = { ...usualForm, briefErrors: brief, isBusiness: counted }
  const examples = Object.values(errorKinds(vocabulary))
    .flatMap(({ makeSamples }) => Object.entries(makeSamples()))
    .map(([name, error]) => ({ name, ...renderError(error, vocabulary, exampleTrace, form) }))
    .filter((sample) => sample.status === status)
    .map(({ name, body }) => [name, { value: body }])
  return {
    description,
    headers: headersOf(status, vocabulary, counted),
    content: {
      'application/json': {
        schema: refTo('schemas', errorSchemaName(brief)) as unknown as JsonSchema,
        examples: Object.fromEntries(examples),
      },
    },
  }
}

/** The statuses with which rows refuse: in a vocabulary that has no 422, a rule of the business is 400. */
export function shownStatuses(
  statuses: readonly ErrorStatus[],
  { habits }: Vocabulary,
  isBusiness: boolean,
): ErrorStatus[] {
  return statuses.filter((status) => status !== 422 || !habits.public_refusals || !isBusiness)
}

export function errorSchemaName(brief: boolean): string {
  return brief ? 'BriefError' : 'Error'
}

/** The envelope; `brief` is for the operation that shows only `message`, `type` and `code`. */
export function describeErrorSchema(brief: boolean, vocabulary: Vocabulary): JsonSchema {
  const always = {
    message: { type: 'string', description: 'One sentence: what is wrong, and what would be right.' },
    type: { type: 'string', enum: listErrorTypes(vocabulary) },
    code: { type: 'integer', description: 'What kind of error it is; more precise than the status.' },
  }
  const more = {
    error_subcode: { type: 'integer', description: 'Distinguishes errors of the same code.' },
    is_transient: { type: 'boolean', description: 'True: the same request may succeed later.' },
    [vocabulary.trace_member]: {
      type: 'string',
      description: `The trace of the request, also in the header ${vocabulary.trace_header} and in the log of the service.`,
    },
    error_data: {
      type: 'object',
      description: 'Errors of sending repeat their sentence here.',
      properties: { messaging_product: { type: 'string' }, details: { type: 'string' } },
    },
    error_user_title: { type: 'string', description: 'A title that may be shown to a user.' },
    error_user_msg: { type: 'string', description: 'A text that may be shown to a user.' },
  }
  return {
    title: errorSchemaName(brief),
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['message', 'type', 'code'],
        properties: brief ? always : { ...always, ...more },
      },
    },
  }
}

function listErrorTypes(vocabulary: Vocabulary): string[] {
  const samples = Object.values(errorKinds(vocabulary)).flatMap(({ makeSamples }) => Object.values(makeSamples()))
  return [...new Set(samples.flatMap((error) => typesOf(error, vocabulary)))]
}

/** With and without the habits of the vocabulary. */
function typesOf(error: GraphError, vocabulary: Vocabulary): string[] {
  const forms = [usualForm, { ...usualForm, isBusiness: false }]
  return forms.map((form) => String(renderError(error, vocabulary, exampleTrace, form).body.error['type']))
}
