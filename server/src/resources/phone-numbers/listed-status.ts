import { Type } from 'typebox'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { linkStatuses } from './schemas.ts'

/** Each link of a number as the public document has it; CONNECTED is not there, but the specification shows it. */
const documentStatuses: Readonly<Record<(typeof linkStatuses)[number], string>> = {
  PENDING: 'PENDING',
  LINKED: 'LINKED',
  UNLINKED: 'UNLINKED',
  DELETED: 'DELETED',
  MIGRATED: 'MIGRATED',
  BANNED: 'BANNED',
  RESTRICTED: 'RESTRICTED',
  CONNECTED: 'CONNECTED',
  UNVERIFIED: 'PENDING',
}

interface ListedStatus {
  readonly values: readonly string[]
  readonly show: (link_status: string) => string
}

const stored: ListedStatus = { values: linkStatuses, show: (status) => status }
const ofDocument: ListedStatus = {
  values: [...new Set(Object.values(documentStatuses))],
  show: (status) => (documentStatuses as Readonly<Record<string, string>>)[status] ?? status,
}

/** The `status` of a number in lists: its values, and how a stored one is shown. */
export function chooseListedStatus({ habits }: Vocabulary) {
  const { values, show } = habits.document_statuses ? ofDocument : stored
  return { schema: Type.Optional(Type.Enum([...values])), show }
}
