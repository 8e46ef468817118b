import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { listSources, sourceRoot } from './harness/source-patterns.ts'
import { findBranches, findJoins, listAsyncFunctions, listImports } from './harness/transaction-branches.ts'

/**
 * A transaction ends when its work returns or throws. Work that is done beside other work of the same transaction goes on when that
 * fails, and finds the transaction ended. So everything is awaited where it is begun; what should travel together is `tx.run`,
 * `tx.later`, or one statement for many rows.
 */

/** Everything that the service does together, by file, and why no transaction is among it. */
const joins: Readonly<Record<string, { readonly what: readonly string[]; readonly because: string }>> = {
  'app.ts': { what: ['Promise.all([usersStream.close(), foundation.feed.close()])'], because: 'streams are closed' },
  'base/work/within.ts': { what: ['Promise.race([work, late])'], because: 'reads that a deadline leaves behind' },
  'cli/listen/listen.ts': {
    what: ['Promise.race([ended, watchCallback('],
    because: 'the callback is looked at in reads of their own until it ends',
  },
  'cli/records/replay-command.ts': {
    what: ['Promise.race([step, ended])'],
    because: 'a step has transactions of its own',
  },
  'cli/voice/sound-command.ts': {
    what: ['Promise.race([asked, late])'],
    because: 'a command with sound has no store: it asks a server',
  },
  'db/notifications.ts': { what: ['Promise.race([client?.end(), new Promise('], because: 'a connection is closed' },
  'db/hosts/host-locator.ts': {
    what: ['Promise.race([checked, pause('],
    because: 'hosts are asked what they are',
  },
  'db/postgres/group-transaction.ts': {
    what: ['Promise.all(branches)'],
    because: 'works of one transaction, each of which ends by itself: all of them are waited for',
  },
  'db/postgres/postgres.ts': {
    what: [
      'Promise.any(pings)',
      'Promise.race([responded, late])',
      'Promise.all([pool.end(), reserve?.end(), shared.close()])',
    ],
    because: 'connections are asked whether they live, and closed',
  },
  'egress/egress.ts': { what: ['Promise.all(pools.map((pool) => pool.destroy()))'], because: 'connections to hosts' },
  'egress/resolve.ts': {
    what: ['Promise.any(families).then(', 'Promise.allSettled(families)'],
    because: 'names are resolved',
  },
  'delivery/worker/sender.ts': {
    what: ['Promise.all(this.#posts)', 'Promise.all(deliveries)'],
    because: 'posts under way, and reads of committed rows for them',
  },
  'delivery/worker/worker.ts': { what: ['Promise.race([done, wait('], because: 'posts under way end, or it is late' },
  'files/piece-store.ts': { what: ['Promise.all([handle.datasync(), syncFolder('], because: 'files are synced' },
  'http/connection/stop.ts': {
    what: ['Promise.race([server.close().then('],
    because: 'connections end, or it is late',
  },
  'processes/heartbeat.ts': { what: ['Promise.race([removed, wait('], because: 'a statement of its own' },
  'replies/packed.ts': { what: ['Promise.all(['], because: 'bytes are compressed' },
  'resources/messages/links/link-worker.ts': {
    what: ['Promise.all([...this.#inHand.values()].map(({ done }) => done))'],
    because: 'each link has transactions of its own',
  },
  'site/store-state.ts': {
    what: [
      'Promise.race([late.promise, readState(look)])',
      'Promise.all([count(database.read), listNumbers(database.read, ',
    ],
    because: 'reads of committed rows',
  },
  'stream/store-reader.ts': { what: ['Promise.all(['], because: 'reads of committed rows' },
  'telemetry/export-metrics.ts': {
    what: ['Promise.all([', 'Promise.race([closed, wait('],
    because: 'modules are loaded, and a connection is closed',
  },
  'telemetry/export-spans.ts': {
    what: ['Promise.all([', 'Promise.race([closed, wait('],
    because: 'modules are loaded, and a connection is closed',
  },
  'timers/worker.ts': { what: ['Promise.all(this.#inHand'], because: 'each timer has transactions of its own' },
}

describe('the search for branches of a transaction', () => {
  const isAsync = (name: string) => ['findSender', 'takeChat', '#take'].includes(name)
  const together: Readonly<Record<string, string>> = {
    'Promise.all': 'const [a, b] = await Promise.all([\n  findSender(tx),\n  takeChat(tx, { id: f(1) }),\n])',
    'Promise.all over a list': 'await Promise.all(fresh.map((one) => describeContent(tx, one)))',
    'Promise.all of what holds a transaction': 'await Promise.all([findSender(context), takeChat(context.db)])',
    'Promise.all of queries':
      'async function count({ query }) {\n  await Promise.all(tables.map((one) => query.selectFrom(one)))\n}',
    'Promise.race': 'return Promise.race([takeChat(db), late])',
    'Promise.allSettled': 'await Promise\n  .allSettled(ids.map((id) => tx.first(find, { id })))',
    'Promise.any': 'Promise.any([1, 2].map(() => takeChat(db)))',
    'a function that is passed on': 'return list.then(Promise.all)',
    'a member by its name': "await Promise['all'](started)",
    'a member that is taken out': 'const { all } = Promise',
  }
  for (const [name, source] of Object.entries(together)) {
    test(`the search for branches of a transaction finds everything that is done together: ${name}`, () =>
      assert.equal(findJoins(source).length, 1))
  }
  test('the search for branches of a transaction leaves promises of one thing alone', () => {
    const source =
      'const { promise, resolve } = Promise.withResolvers()\nreturn Promise.resolve<Promise<void>>(promise)'
    assert.deepEqual(findJoins(source), [])
  })

  const found: Readonly<Record<string, string>> = {
    'that is dropped': 'void takeChat(tx, chat)',
    'of a method that is dropped': 'void this.#take(tx)',
    'that is awaited later': '{\n  const chat = takeChat(tx, id)\n  checkSender(await findSender(tx))\n}',
    'of a method that is awaited later': '{\n  const taken = this.#take(context)\n  await other(taken)\n}',
    'of a statement that is awaited later': '{\n  const rows = tx.list(find, { id })\n  return rows\n}',
    'of a query that is awaited later':
      "{\n  const gone = query\n    .deleteFrom('apps')\n    .execute()\n  await gone\n}",
    'of a list that is awaited one by one':
      'const started = ids.map((id) => takeChat(tx, id))\nfor (const one of started) await one',
    'of a list of queries': 'const all = tables.map((one) =>\n  query.selectFrom(one).execute(),\n)',
    'of a list of asynchronous work': 'ids.forEach(async (id) => {\n  await takeChat(tx, id)\n})',
  }
  for (const [name, source] of Object.entries(found)) {
    test(`the search for branches of a transaction finds one ${name}`, () =>
      assert.equal(findBranches(source, isAsync).length, 1))
  }

  const fine: Readonly<Record<string, string>> = {
    'what is awaited': '{\n  await takeChat(tx, chat)\n  return takeChat(tx, chat)\n}',
    'what is awaited on another line': 'const chat = await\n  takeChat(tx, chat)\nconst made =\n  await takeChat(tx)',
    'what returns nothing': '{\n  touchChats(tx, chats)\n  tx.run(insert, { id })\n}',
    'a query that is only built': "const rows = tx.query\n  .selectFrom('apps')\n  .selectAll()\nreturn rows",
    'a function that is made': 'const take = async (tx) => {\n  await takeChat(tx)\n}',
    'functions that are made': 'const all = ids.map((id) => (tx) => takeChat(tx, id))',
    'rows that are mapped': 'const all = (await tx.list(find, {})).map((row) => toItem(row, context))',
    'a type': 'type Take = (tx: Transaction) => void\nfunction take(tx: Transaction): void {}',
    'a function that is passed on': 'await transact(\n  takeChat(tx, chat),\n)',
  }
  for (const [name, source] of Object.entries(fine)) {
    test(`the search for branches of a transaction leaves ${name} alone`, () =>
      assert.deepEqual(findBranches(source, isAsync), []))
  }

  const sources = listSources().map((file) => ({ file, source: readFileSync(join(sourceRoot, file), 'utf8') }))

  test('the search for branches of a transaction knows why each place in the sources may do something together', () => {
    const unknown = sources.flatMap(({ file, source }) =>
      findJoins(source)
        .filter(({ text }) => !joins[file]?.what.some((known) => text.startsWith(known)))
        .map(({ line, text }) => `${file}:${line} ${text}`),
    )
    assert.deepEqual(unknown, [])
    const gone = Object.entries(joins).flatMap(([file, { what }]) => {
      const { source } = sources.find((one) => one.file === file) ?? { source: '' }
      return what.filter((known) => !findJoins(source).some(({ text }) => text.startsWith(known)))
    })
    assert.deepEqual(gone, [], 'known places that are gone')
  })

  test('the search for branches of a transaction finds none in the sources', () => {
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

const repository = resolve(import.meta.dirname, '../..')

/** What the search relies on the linter for; its rule is experimental, so another version of it may find less. */
test('the linter finds work that nobody awaits', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
  t.after(() => rm(folder, { recursive: true }))
  await cp(join(repository, 'biome.json'), join(folder, 'biome.json'))
  await writeFile(
    join(folder, 'transaction.ts'),
    `interface Query {
  where(name: string): Query
  execute(): Promise<object[]>
}

export interface Transaction {
  readonly query: { deleteFrom(table: string): Query }
  list(statement: object): Promise<object[]>
}

export async function takeChat(tx: Transaction): Promise<void> {
  await tx.list({})
}
`,
  )
  await writeFile(
    join(folder, 'planted.ts'),
    `import { type Transaction, takeChat } from './transaction.ts'

const find = async (tx: Transaction) => {
  await tx.list({})
}

export class Taker {
  async #take(tx: Transaction): Promise<void> {
    await find(tx)
  }

  async takeAll(tx: Transaction): Promise<void> {
    this.#take(tx)
    find(tx)
    takeChat(tx)
    tx.list({})
    tx.query.deleteFrom('apps').where('id').execute()
    const { query } = tx
    query.deleteFrom('apps').execute()
    await takeChat(tx)
  }
}
`,
  )
  const biome = join(repository, 'node_modules/.bin/biome')
  const report = await new Promise<string>((done) =>
    execFile(biome, ['lint', '--reporter=github', '--max-diagnostics=50'], { cwd: folder }, (_error, stdout) =>
      done(stdout),
    ),
  )
  const lines = [...report.matchAll(/noFloatingPromises[^\n]*?line=(\d+)/g)].map(([, line]) => Number(line))
  assert.deepEqual(
    lines.toSorted((one, other) => one - other),
    [13, 14, 15, 16, 17, 19],
    report,
  )
})
