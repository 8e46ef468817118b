import { Type } from 'typebox'
import { defineOperatorControl } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { WorldRefused } from '../../world-part/problems.ts'
import { refuseWorld } from '../operators/public.ts'
import { replaceSandbox } from './recording.ts'

const count = (description: string) => Type.Integer({ description })

export function resetOperations(): NewOperation[] {
  return [
    defineOperatorControl({
      name: 'sandbox.reset',
      isConfidential: true,
      method: 'POST',
      path: '/operator/reset',
      sentence:
        'Empties the store, media included, and applies a world; the clock shows the real time again, and there are no faults. Snapshots stay.',
      input: Type.Object({
        world: Type.Optional(
          Type.Union([Type.String({ maxLength: 524_288 }), Type.Object({}, { additionalProperties: true })], {
            description:
              'A world file as a JSON object, or as text in YAML or JSON; left out: the one that the server began with.',
          }),
        ),
      }),
      output: Type.Object({
        success: Type.Boolean(),
        created: count('How many entries of the world were created.'),
        updated: count('How many entries of the world were changed.'),
        unchanged: count('How many entries of the world were there already.'),
      }),
      examples: { input: {}, output: { success: true, created: 57, updated: 0, unchanged: 0 } },
      run: (context, { world }) =>
        replaceSandbox(context, 'sandbox.reset', { id: 'store', kind: 'sandbox' }, async (sandbox, replacer) => {
          try {
            return { success: true, ...(await sandbox.reset(world, replacer)) }
          } catch (error) {
            if (error instanceof WorldRefused && world !== undefined) throw refuseWorld(error)
            throw error
          }
        }),
    }),
  ]
}
