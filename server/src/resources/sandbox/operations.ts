import type { Chapter } from '../../chapter.ts'
import type { NewRow } from '../../graph/operation.ts'
import { clockOperations } from './clock.ts'

/** What only a sandbox can do: its clock. */
export const sandboxChapter: Chapter = {
  name: 'sandbox',
  title: 'Sandbox',
  onlyInSandbox: true,
  rows: sandboxOperations,
}

function sandboxOperations(): NewRow[] {
  return [...clockOperations()]
}
