import { EventEmitter, once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TestServer } from './server.ts'

/**
 * Detects that a request was admitted while its body is still to come. Nothing outside shows this, so it watches the look-ups: the
 * last one is for the node, at the gateway for the token. The store must have been written to before, so that nothing is cached.
 */
export function watchAdmissions({ database }: TestServer): { next(last: 'node' | 'token'): Promise<void> } {
  const found = new EventEmitter()
  const read = database.read as { first: unknown }
  const first = read.first as (statement: unknown, parameters: object) => Promise<object | undefined>
  read.first = async (statement: unknown, parameters: object) => {
    const row = await first(statement, parameters)
    if (row && ('kind' in row || 'node_kind' in row)) found.emit('node')
    else if (row && 'revoked_time' in row) found.emit('token')
    return row
  }
  return {
    async next(last) {
      await once(found, last)
      // The rest needs no look-up, and so happens within this turn.
      await nextTurn()
    },
  }
}
