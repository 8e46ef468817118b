import type { Chapter } from '../../chapter.ts'
import type { NewRow } from '../../graph/operation.ts'
import { clockOperations } from './clock.ts'
import { faultOperations } from './faults.ts'
import { resetOperations } from './reset.ts'
import { snapshotOperations } from './snapshots.ts'

/** What only a sandbox can do: its clock, faults on purpose, snapshots, and a new beginning. */
export const sandboxChapter: Chapter = {
  name: 'sandbox',
  title: 'Sandbox',
  onlyInSandbox: true,
  rows: sandboxOperations,
}

function sandboxOperations(): NewRow[] {
  return [...clockOperations(), ...faultOperations(), ...snapshotOperations(), ...resetOperations()]
}
