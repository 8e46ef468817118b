import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases, useTestDatabase } from '../../../test/harness/databases.ts'
import { describeError } from './describe-error.ts'

const secret = 'Your ferns are here.'
const shown = (error: unknown) => JSON.stringify(describeError(error as Error))

/** An error as the driver of PostgreSQL makes it. */
function refusal(code: string, message: string): Error {
  const hidden = { detail: secret, where: secret, internalQuery: secret, hint: secret, parameters: [secret] }
  return Object.assign(new Error(message), { severity: 'ERROR', code, table: 'messages', routine: 'x', ...hidden })
}

describe('an error in the log', () => {
  test('an error in the log has its type, message and stack, and the members that hold no value', () => {
    const error = refusal('23505', 'duplicate key value violates unique constraint "messages_pkey"')
    assert.deepEqual(describeError(error), {
      type: 'Error',
      message: error.message,
      stack: error.stack,
      ...{ code: '23505', table: 'messages', severity: 'ERROR', routine: 'x' },
    })
    const { errno, syscall } = { errno: -2, syscall: 'open' }
    const missing = Object.assign(new Error('no such file'), { errno, syscall, path: '/a', options: { secret } })
    assert.deepEqual(describeError(missing), {
      type: 'Error',
      message: 'no such file',
      stack: missing.stack,
      ...{ errno, syscall, path: '/a' },
    })
  })

  test('an error in the log leaves out a message that quotes a value, wherever the error is', () => {
    const bad = () => refusal('22P02', `ungültige Eingabesyntax für Typ integer: »${secret}«`)
    const errors: [what: string, error: Error][] = [
      ['alone', bad()],
      ['a cause', new Error('it failed', { cause: new Error('for a reason', { cause: bad() }) })],
      ['one of several', new AggregateError([new Error('one'), bad()], 'all failed')],
      ['a cause of one of several', new AggregateError([new Error('one', { cause: bad() })], 'all failed')],
      ['a member', Object.assign(new Error('it failed'), { query: bad() })],
    ]
    for (const [what, error] of errors) {
      assert.ok(!shown(error).includes(secret), what)
      if (what !== 'a member') assert.match(shown(error), /PostgreSQL refused a value; its message is left out/, what)
    }
  })

  test('an error in the log may be in a circle, and may be no error', () => {
    const first = new Error('first')
    first.cause = new Error('second', { cause: first })
    assert.match(shown(first), /first: second/)
    assert.equal(describeError('gone' as unknown as Error), 'gone')
    assert.match(shown(new AggregateError(['text', null], 'several')), /several/)
  })
})

onBothDatabases('an error of the database in the log', (engine) => {
  const store = useTestDatabase(engine)
  const fail = (run: () => Promise<unknown>) => run().then(() => assert.fail('it did not fail'), shown)

  test('an error of the database in the log names what was broken, and no value of a row', async () => {
    const insert = () =>
      store.database.transaction(async (tx) => {
        const row = sql`INSERT INTO schema_migrations SELECT * FROM schema_migrations`
        await row.execute(tx.query)
      })
    const line = await fail(insert)
    assert.match(line, /unique|duplicate/i)
    assert.ok(!/already exists|"detail"/.test(line), line)
  })

  if (engine === 'postgres') {
    test('an error of the database in the log does not quote a value that could not be read', async () => {
      const line = await fail(() => sql`SELECT ${secret}::text::integer`.execute(store.database.read.query))
      assert.match(line, /"code":"22P02"/)
      assert.ok(!line.includes(secret), line)
    })
  }
})
