import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineOpen } from '../../graph/define.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import type { Readiness } from '../../graph/ports.ts'
import { Reply } from '../../graph/reply.ts'

const json = { 'content-type': 'application/json; charset=utf-8' }
const page = { 'text/html': Type.String({ contentMediaType: 'text/html' }) }
const document = {
  'application/json': Type.Object({}, { description: 'An OpenAPI 3.1 document.', additionalProperties: true }),
}
const nothing = Type.Object({})

/** What the service says about itself: pages for people, documents for programs, health and metrics for operators. */
export const serviceChapter: Chapter = {
  name: 'service',
  title: 'The service itself',
  rows: serviceOperations,
}

function serviceOperations(): NewReplyOperation[] {
  return [
    defineOpen({
      name: 'public.docs',
      path: '/docs',
      sentence: 'Shows every operation, with a form to try it.',
      input: nothing,
      examples: { output: undefined },
      content: page,
      repeated: 'whole',
      run: async ({ ports, headers, mayUseDemo }) =>
        ports.documents.docs(headers, mayUseDemo, await ports.console.frame()),
    }),
    defineOpen({
      name: 'public.openapi',
      path: '/openapi.json',
      sentence: 'Sends the OpenAPI document of the business API.',
      input: nothing,
      examples: { output: undefined },
      content: document,
      repeated: 'whole',
      run: ({ ports, headers }) => ports.documents.openApi('business', headers),
    }),
    defineOpen({
      name: 'public.openapi_gateway',
      path: '/openapi-gateway.json',
      sentence: 'Sends the OpenAPI document of the gateway and of what anyone may open.',
      input: nothing,
      examples: { output: undefined },
      content: document,
      repeated: 'whole',
      run: ({ ports, headers }) => ports.documents.openApi('gateway', headers),
    }),
    defineOpen({
      name: 'public.openapi_operator',
      path: '/openapi-operator.json',
      sentence: 'Sends the OpenAPI document of the operator door.',
      input: nothing,
      examples: { output: undefined },
      content: document,
      repeated: 'whole',
      run: ({ ports, headers }) => ports.documents.openApi('operator', headers),
    }),
    defineOpen({
      name: 'operators.healthz',
      path: '/healthz',
      sentence: 'Reports that the process is alive.',
      everyRole: true,
      errors: [400, 500],
      input: nothing,
      examples: { output: undefined },
      content: { 'application/json': Type.Object({ status: Type.Literal('alive') }) },
      run: async () => new Reply(json, '{"status":"alive"}'),
    }),
    defineReadiness({
      name: 'operators.readyz',
      path: '/readyz',
      sentence: 'Reports whether requests can be served.',
      judge: (readiness) => readiness,
    }),
    defineReadiness({
      name: 'operators.readyz_process',
      path: '/readyz/process',
      sentence: 'Reports whether this process can serve, though the database may be away for all of them.',
      // A proxy that took all of them out of service would respond itself, and not say when to try again.
      judge: (readiness) =>
        readiness.isOnlyDatabase ? { reason: undefined, warning: readiness.reason ?? '' } : readiness,
    }),
    defineOpen({
      name: 'operators.metrics',
      path: '/metrics',
      sentence: 'Sends the metrics of the process for Prometheus.',
      everyRole: true,
      errors: [400, 500],
      input: nothing,
      examples: { output: undefined },
      content: { 'text/plain': Type.String() },
      async run({ ports }) {
        const { contentType, text } = await ports.health.readMetrics()
        return new Reply({ 'content-type': contentType }, text)
      },
    }),
  ]
}

interface ReadinessRow {
  readonly name: `operators.${string}`
  readonly path: `/${string}`
  readonly sentence: string
  readonly judge: (readiness: Readiness) => Readiness
}

function defineReadiness({ judge, ...row }: ReadinessRow) {
  return defineOpen({
    ...row,
    everyRole: true,
    errors: [400, 500],
    input: nothing,
    examples: { output: undefined },
    content: {
      'application/json': Type.Object({
        status: Type.Literal('ready'),
        warning: Type.Optional(
          Type.String({
            description:
              'What cannot be done meanwhile, and why: writes are refused, the clock is wrong, or an operator holds what would be sent.',
          }),
        ),
      }),
    },
    unready: {
      'application/json': Type.Object({ status: Type.Literal('not ready'), reason: Type.String() }),
    },
    async run({ ports }) {
      const { reason, warning, error } = judge(await ports.health.findReadiness())
      if (reason !== undefined) {
        return new Reply(json, JSON.stringify({ status: 'not ready', reason }), { status: 503, fault: error })
      }
      return new Reply(json, JSON.stringify({ status: 'ready', ...(warning !== undefined && { warning }) }))
    },
  })
}
