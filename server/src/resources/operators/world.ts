import { Type } from 'typebox'
import type { Transaction } from '../../db/database.ts'
import type { RawBody } from '../../graph/context.ts'
import { defineOperatorReply, defineOperatorWrite } from '../../graph/define.ts'
import { bodyBrokeOff } from '../../graph/errors.ts'
import { GraphError } from '../../graph/graph-error.ts'
import type { NewRow } from '../../graph/operation.ts'
import type { AppliedWorld } from '../../graph/ports.ts'
import { Reply } from '../../graph/reply.ts'
import { Recorded } from '../../graph/result.ts'
import { worldNeedsAll, worldNotText, worldTooLarge } from './errors.ts'

const example = '{"businesses":[{"id":"2000000000000001","name":"Lucky Shrub"}]}'
const types = { yaml: 'application/yaml; charset=utf-8', json: 'application/json; charset=utf-8' } as const

const countSchema = Type.Object({
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  warnings: Type.Optional(
    Type.Array(Type.String(), { description: 'What was not applied, each with its place; absent when all was.' }),
  ),
})

/** The store as a world file, and back. */
export function worldOperations(): NewRow[] {
  return [
    defineOperatorReply({
      name: 'operator.export_world',
      isConfidential: true,
      path: '/operator/world',
      sentence:
        'Sends the store as a world file, in YAML, or in JSON by the header Accept; the file holds the secrets of apps.',
      input: Type.Object({}),
      errors: [400, 401, 403, 429, 500],
      content: {
        'application/yaml': Type.String(),
        'application/json': Type.Object({}, { additionalProperties: true }),
      },
      examples: { output: undefined },
      async run({ ports, limits, headers }) {
        const format = prefersJson(headers.accept) ? 'json' : 'yaml'
        const common = { 'cache-control': 'private, no-store', vary: 'accept' }
        return new Reply({ 'content-type': types[format], ...common }, ports.world.export(format, limits))
      },
    }),
    defineOperatorWrite<ReturnType<typeof Type.Object>, typeof countSchema, Apply>({
      name: 'operator.apply_world',
      isConfidential: true,
      method: 'POST',
      path: '/operator/world',
      sentence: 'Applies a world file, or a part of one, whole or not at all: creates or updates, never deletes.',
      body: 'raw',
      input: Type.Object({}),
      output: countSchema,
      examples: {
        bytes: Buffer.from(example).toString('base64'),
        output: { created: 0, updated: 0, unchanged: 1 },
      },
      async prepare({ limits, body, settings, ports }) {
        if (limits) throw worldNeedsAll()
        return ports.world.prepare(await readText(body, settings.maxWorldBytes))
      },
      async run({ db }, _input, apply) {
        const { warnings, ...counts } = await apply(db)
        return new Recorded({ ...counts, ...(warnings.length > 0 && { warnings }) }, { id: 'world', kind: 'world' })
      },
    }),
  ]
}

type Apply = (tx: Transaction) => Promise<AppliedWorld>

/** The first of the two that is accepted, in the order of the header. */
function prefersJson(accept = ''): boolean {
  const named = accept
    .split(',')
    .map((one) => one.split(';', 1)[0]?.trim().toLowerCase() ?? '')
    .find((type) => /yaml|json/.test(type))
  return named !== undefined && /json/.test(named)
}

async function readText({ stream, length }: RawBody, max: number): Promise<string> {
  if (length !== undefined && length > max) throw worldTooLarge({ max })
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > max) throw worldTooLarge({ max })
      chunks.push(chunk)
    }
  } catch (error) {
    // Whoever sent it has gone.
    throw error instanceof GraphError ? error : bodyBrokeOff()
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (error) {
    if (error instanceof TypeError) throw worldNotText()
    throw error
  }
}
