import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../test/harness/databases.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { ids, numbers } from '../../../../test/harness/world.ts'
import type { Transaction } from '../../../db/database.ts'
import type { Context } from '../../../graph/context.ts'
import { idempotencyHeader, type MessageRequest } from '../schemas.ts'
import { runIdempotent } from './idempotency.ts'

onBothDatabases('a key that is swept after it was found to be there', (engine) => {
  const server = useTestServer({ engine })
  const request = { [idempotencyHeader]: 'swept', to: '1', text: { body: 'Hello' } } as unknown as MessageRequest

  function send(db: Transaction, work: () => Promise<object>): Promise<object> {
    const caller = { app_id: ids.application }
    const settings = { idempotencyKeep: 60_000 }
    const given = { db, clock: server.clock, caller, node: { id: numbers.main }, settings, unknownMembers: [] }
    return runIdempotent(given as unknown as Context<Transaction>, request, work)
  }

  /** Sweeps the key between the insertion, which finds it, and the look at it. */
  function sweepBetween(tx: Transaction): Transaction {
    let isSwept = false
    const first: Transaction['first'] = async (statement, parameters) => {
      const found = await tx.first(statement, parameters)
      if (found === undefined && !isSwept) {
        isSwept = true
        const sweep = ({ query }: Transaction) => query.deleteFrom('idempotency_keys').execute()
        // The embedded store has one transaction at a time.
        await (engine === 'sqlite' ? sweep(tx) : server.database.transaction(sweep))
      }
      return found
    }
    return new Proxy(tx, {
      get(_, name) {
        if (name === 'first') return first
        const member: unknown = Reflect.get(tx, name, tx)
        return typeof member === 'function' ? member.bind(tx) : member
      },
    })
  }

  test('a key that is swept after it was found to be there is new: the request is done again and its response kept', async () => {
    const { database } = server
    assert.deepEqual(await database.transaction((tx) => send(tx, async () => ({ id: 'first' }))), { id: 'first' })
    const again = await database.transaction((tx) => send(sweepBetween(tx), async () => ({ id: 'second' })))
    assert.deepEqual(again, { id: 'second' })
    const kept = await database.read.query.selectFrom('idempotency_keys').select('response').execute()
    assert.deepEqual(kept, [{ response: '{"id":"second"}' }])
  })
})
