import { Type } from 'typebox'
import { defineOperatorControl, defineOperatorRead } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import { maxSnapshots, type Snapshot, SnapshotOutdated, SnapshotsFull } from '../../sandbox/snapshots.ts'
import { writeTimestamp } from '../operators/public.ts'
import { snapshotOutdated, tooManySnapshots } from './errors.ts'
import { controlSandbox, replaceSandbox, sandboxOf } from './recording.ts'

const nameSchema = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  maxLength: 64,
  'x-expects': 'a name of at most 64 letters, digits, dots, hyphens and underscores that begins with a letter or digit',
  description: 'The name of the snapshot.',
})

const snapshotSchema = Type.Object({
  name: Type.String(),
  created_time: Type.String({ format: 'date-time', description: 'When it was saved, by the clock of the service.' }),
})

const exampleName = 'before-checkout'
const exampleSnapshot = { name: exampleName, created_time: '2026-06-01T12:00:00.000Z' }
const savedFirst = [{ send: 'sandbox.save_snapshot' }] as const

/** The whole store as it was, by name. */
export function snapshotOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'sandbox.list_snapshots',
      method: 'GET',
      path: '/operator/snapshots',
      sentence: 'Lists the snapshots of the store by name.',
      input: Type.Object({}),
      output: Type.Object({ data: Type.Array(snapshotSchema) }),
      examples: { output: { data: [exampleSnapshot] } },
      run: async (context) => ({ data: (await sandboxOf(context).listSnapshots()).map(showSnapshot) }),
    }),
    defineOperatorControl({
      name: 'sandbox.save_snapshot',
      method: 'POST',
      path: '/operator/snapshots',
      sentence:
        'Saves the whole store under a name, files, clock and faults included; a snapshot of the same name is replaced.',
      input: Type.Object({ name: nameSchema }),
      output: snapshotSchema,
      examples: { input: { name: exampleName }, output: exampleSnapshot },
      run: (context, { name }) =>
        controlSandbox(context, 'sandbox.save_snapshot', subjectOf(name), async (sandbox, record) =>
          showSnapshot(await sandbox.saveSnapshot(name, record).catch(explainFull)),
        ),
    }),
    defineOperatorControl({
      name: 'sandbox.restore_snapshot',
      method: 'POST',
      path: '/operator/snapshots/{name}/restore',
      sentence: 'Restores the store from a snapshot, files, clock and faults included.',
      input: Type.Object({ name: nameSchema }),
      output: successSchema,
      examples: { input: { name: exampleName }, output: { success: true }, first: savedFirst },
      run: (context, { name }) =>
        replaceSandbox(context, 'sandbox.restore_snapshot', subjectOf(name), async (sandbox, replacer) => {
          if (!(await sandbox.restoreSnapshot(name, replacer).catch(explainOutdated))) throw notFound()
          return { success: true }
        }),
    }),
    defineOperatorControl({
      name: 'sandbox.delete_snapshot',
      method: 'DELETE',
      path: '/operator/snapshots/{name}',
      sentence: 'Deletes a snapshot, and the files that only it used.',
      input: Type.Object({ name: nameSchema }),
      output: successSchema,
      examples: { input: { name: exampleName }, output: { success: true }, first: savedFirst },
      run: (context, { name }) =>
        controlSandbox(context, 'sandbox.delete_snapshot', subjectOf(name), async (sandbox, record) => {
          if (!(await sandbox.deleteSnapshot(name, record))) throw notFound()
          return { success: true }
        }),
    }),
  ]
}

function subjectOf(name: string) {
  return { id: name, kind: 'snapshot' }
}

function showSnapshot({ name, created_time }: Snapshot) {
  return { name, created_time: writeTimestamp(created_time) }
}

function explainOutdated(error: unknown): never {
  throw error instanceof SnapshotOutdated ? snapshotOutdated() : error
}

function explainFull(error: unknown): never {
  throw error instanceof SnapshotsFull ? tooManySnapshots({ max: maxSnapshots }) : error
}
