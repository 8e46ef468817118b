import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { messageSides } from './harness/messages.ts'
import { startTestServer } from './harness/server.ts'
import { tokens } from './harness/world.ts'

/** What may be read from end to end: lists in the statement itself, what was cut to a page, and names that are not split yet. */
const small =
  /^SCAN (CONSTANT ROW|\d+ CONSTANT ROWS|o VIRTUAL TABLE|found|cut|fitting|counted|t|walked|\(subquery|message_words VIRTUAL TABLE|message_words_end|fresh|\w+ USING INDEX searchable_names_to_split)/

/** The statements of the embedded store that a piece of work prepares. */
async function listPrepared(work: () => Promise<void>): Promise<string[]> {
  const texts = new Set<string>()
  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, text: string) {
    texts.add(text)
    return prepare.call(this, text)
  }
  try {
    await work()
  } finally {
    DatabaseSync.prototype.prepare = prepare
  }
  return [...texts]
}

test('a search in the embedded store walks no table: plans.long.test.ts has the same for PostgreSQL', async (t) => {
  const server = await startTestServer({ engine: 'sqlite' })
  t.after(() => server.stop())
  const sides = messageSides(server)
  const id = await sides.write(sides.newUser(), { text: { body: 'an emerald harmonica' } })
  await server.app.sweep()
  const prepared = await listPrepared(async () => {
    for (const q of [
      id,
      '4711',
      '0123456789abcdef',
      '+1 650 555 1234',
      'emerald',
      'emerald harmonica',
      'lucky shrub',
    ]) {
      for (const token of [tokens.operator, tokens.limitedOperator]) {
        for (const query of [{ q }, { q, since: '1h', until: '0s' }] as Record<string, string>[]) {
          assert.equal((await server.client.get('/operator/find', { token, query })).status, 200)
        }
      }
    }
  })
  const searches = prepared.filter((text) => /message_words|name_words|searchable_names|trace/.test(text))
  assert.ok(searches.length > 10, `${searches.length} statements`)
  const store = new DatabaseSync(`${server.dataDir}/switchboard.db`)
  t.after(() => store.close())
  const walked = searches.flatMap((text) => {
    const plan = store.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[]
    const scans = plan.map(({ detail }) => detail).filter((detail) => detail.startsWith('SCAN') && !small.test(detail))
    const sorts = plan.map(({ detail }) => detail).filter((detail) => /^USE TEMP B-TREE FOR (ORDER|LAST)/.test(detail))
    return scans.length > 0 ? [`${scans.join(', ')} ${sorts.join(', ')}: ${text.replaceAll(/\s+/g, ' ')}`] : []
  })
  assert.deepEqual(walked, [])
})
