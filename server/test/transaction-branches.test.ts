import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { listSources, sourceRoot } from './harness/source-patterns.ts'
import { findBranches, listAsyncFunctions, listImports } from './harness/transaction-branches.ts'

/**
 * A transaction ends when its work returns or throws. Work that is done beside other work of the same transaction goes on when that
 * fails, and finds the transaction ended. So everything is awaited where it is begun; what should travel together is `tx.run`,
 * `tx.later`, or one statement for many rows.
 */
describe('the search for branches of a transaction', () => {
  const isAsync = (name: string) => name === 'findSender' || name === 'takeChat'
  const found: Readonly<Record<string, string>> = {
    'of Promise.all': 'const [a, b] = await Promise.all([\n  findSender(tx),\n  takeChat(tx, { id: f(1) }),\n])',
    'of Promise.all over a list': 'await Promise.all(fresh.map((one) => describeContent(tx, one)))',
    'of Promise.race': 'return Promise.race([takeChat(db), late])',
    'of Promise.allSettled': 'await Promise\n  .allSettled(ids.map((id) => tx.first(find, { id })))',
    'of Promise.any': 'Promise.any([1, 2].map(() => takeChat(db)))',
    'that is dropped': 'void takeChat(tx, chat)',
    'that nobody awaits': '{\n  takeChat(tx, chat)\n  return 1\n}',
    'that is awaited later': '{\n  const chat = takeChat(tx, id)\n  checkSender(await findSender(tx))\n}',
    'of a statement that nobody awaits': 'if (x) {\n  tx.list(find, { id })\n}',
    'of a query that nobody awaits': "if (x) {\n  db.query\n    .deleteFrom('apps')\n    .execute()\n}",
  }
  for (const [name, source] of Object.entries(found)) {
    test(`finds one ${name}`, () => assert.equal(findBranches(source, isAsync).length, 1))
  }

  const fine: Readonly<Record<string, string>> = {
    'what is awaited': '{\n  await takeChat(tx, chat)\n  return takeChat(tx, chat)\n}',
    'what is awaited on another line': 'const chat = await\n  takeChat(tx, chat)\nconst made =\n  await takeChat(tx)',
    'what returns nothing': '{\n  touchChats(tx, chats)\n  tx.run(insert, { id })\n}',
    'reads of committed rows': 'await Promise.all([count(database.read), database.read.query.execute()])',
    'a type': 'type Take = (tx: Transaction) => void\nfunction take(tx: Transaction): void {}',
    'a function that is passed on': 'await transact(\n  takeChat(tx, chat),\n)',
  }
  for (const [name, source] of Object.entries(fine)) {
    test(`leaves ${name} alone`, () => assert.deepEqual(findBranches(source, isAsync), []))
  }

  test('finds none in the sources', () => {
    const sources = listSources().map((file) => ({ file, source: readFileSync(join(sourceRoot, file), 'utf8') }))
    const asyncFunctions = new Set(sources.flatMap(({ source }) => listAsyncFunctions(source)))
    assert.ok(asyncFunctions.size > 500, 'the sources were read')
    const branches = sources.flatMap(({ file, source }) => {
      const imported = listImports(source).filter((name) => asyncFunctions.has(name))
      const known = new Set([...listAsyncFunctions(source), ...imported])
      return findBranches(source, (name) => known.has(name)).map(({ line, text }) => `${file}:${line} ${text}`)
    })
    assert.deepEqual(branches, [])
  })
})
