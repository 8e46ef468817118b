import type { Chapter } from '../../chapter.ts'
import { connectionOperations } from './connection-operations.ts'
import { countConnectionsForOperators } from './connection-store.ts'
import { dialogOperations } from './dialog/operations.ts'
import { exchangeOperations } from './exchange-operations.ts'
import { personOperations } from './person-operations.ts'

/** A business connects itself to an app: the dialog, the exchange of its code, and what came of it. */
export const signUpChapter: Chapter = {
  name: 'sign-up',
  title: 'Sign-up',
  rows: (vocabulary) => [
    ...dialogOperations(vocabulary),
    ...exchangeOperations(),
    ...connectionOperations(),
    ...personOperations(),
  ],
  leftOutOfWorld: { connections: countConnectionsForOperators },
}
