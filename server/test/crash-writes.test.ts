import assert from 'node:assert/strict'
import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { buildOperations } from '../src/operations.ts'
import { type RunningServer, startCommand } from './harness/command.ts'
import { crashCommand } from './harness/crash-command.ts'
import type { ChapterWriter } from './harness/crash-writes/chapter-writer.ts'
import { checkStore, whenNothingIsDue } from './harness/crash-writes/check.ts'
import { findFileProblems } from './harness/crash-writes/check-files.ts'
import { findRowProblems } from './harness/crash-writes/check-rows.ts'
import { Doors } from './harness/crash-writes/doors.ts'
import { identifyEvent } from './harness/crash-writes/expected-events.ts'
import { crashUnderWrites, writeCrashEnvironment } from './harness/crash-writes/run.ts'
import { Contradiction } from './harness/crash-writes/shelf.ts'
import { StoreView } from './harness/crash-writes/store-view.ts'
import { hearsAll, listener, writeFirstWorld } from './harness/crash-writes/world.ts'
import { makeWriters } from './harness/crash-writes/writers/all.ts'
import { makeMigratedPlace, type StorePlace } from './harness/databases.ts'
import { byForm, describeLong } from './harness/form.ts'
import { type MoodySink, startMoodySink } from './harness/moody-sink.ts'
import { listFiles } from './harness/stock.ts'
import { ids, numbers, strangerIds } from './harness/world.ts'

/** A few rounds; `npm run crash -- --of writes --rounds 200 --seed S` does many. */
const rounds = byForm(1, 2)
const seed = 9

test('a server that is killed at any moment amid writes has what it acknowledged and nothing by halves', async () => {
  const { acknowledged, underWay, events } = await crashUnderWrites({ rounds, seed })
  assert.ok(acknowledged > 10, `writes were acknowledged: ${acknowledged}`)
  assert.ok(underWay > rounds, `writes were under way: ${underWay}`)
  assert.ok(events > 1, `events had to be told: ${events}`)
})

describeLong('what finds contradictions', () => {
  const doors = new Doors()
  let place: StorePlace
  let sink: MoodySink
  let server: RunningServer
  let writers: readonly ChapterWriter[]

  before(async () => {
    place = await makeMigratedPlace('sqlite')
    sink = await startMoodySink({ random: () => 1, subscribers: [hearsAll], identify: identifyEvent })
    const world = await writeFirstWorld(place.dataDir, sink.url)
    server = await startCommand(...crashCommand(place, { world, env: writeCrashEnvironment }))
    doors.url = server.url
    writers = makeWriters({ doors, sinkUrl: sink.url }, place.dataDir, seed)
    await checkAll()
  })
  after(async () => {
    await server.stop('SIGTERM')
    await sink.stop()
    await place.remove()
  })

  async function checkAll(): Promise<void> {
    await whenNothingIsDue(place.dataDir)
    await StoreView.look(place.dataDir, async (store) => {
      await checkStore(store, place.dataDir)
      for (const writer of writers) await writer.check(store)
    })
  }

  /** Every write that there is, but for those that replace the clock, the rules or the store of a sandbox. */
  const writes = buildOperations(chooseVocabulary('msgapp'))
    .filter(({ effect }) => effect !== 'read' && effect !== 'control')
    .map(({ name }) => name)

  test('what finds contradictions is given every write that the service has, and finds nothing where nothing is wrong', async () => {
    const isDone = () => writes.every((name) => doors.operations.has(name))
    const turns = 400
    for (let turn = 0; turn < turns && !isDone(); turn++) await Promise.all(writers.map((writer) => writer.act()))
    assert.deepEqual(
      writes.filter((name) => !doors.operations.has(name)),
      [],
      'no writer makes these writes: add each to the writer of its chapter in harness/crash-writes/writers/, and a new writer to all.ts there',
    )
    await checkAll()
    await sink.whenAllCame(doors.expectedEvents.expected)
    assert.ok(sink.judge(doors.expectedEvents.possible).posts >= doors.expectedEvents.expected.size)
  })

  describe('is told when the store loses, keeps or makes up something behind its back:', () => {
    /** By the name of the writer: what is done to the rows. */
    const losses: Readonly<Record<string, string>> = {
      account: `UPDATE accounts SET name = 'Before' WHERE id = '${ids.account}'`,
      compliance: 'DELETE FROM compliance_info',
      'encryption key': `UPDATE business_public_keys SET signature = 'AAAA'`,
      bot: `UPDATE bots SET enable_welcome_message = NOT enable_welcome_message WHERE phone_number_id = '${numbers.main}'`,
      'QR codes': `INSERT INTO qr_codes VALUES ('MADEUP00000000', '${numbers.main}', 'Hi', 1)`,
      schedules: `UPDATE schedules SET name = 'Another' WHERE id = (SELECT max(id) FROM schedules WHERE name LIKE 'Schedule%')`,
      solutions: `UPDATE solutions SET status = 'INITIATED'`,
      media: 'UPDATE media SET expires_time = 0',
      messages: `DELETE FROM received_messages WHERE message_id = (
        SELECT max(message_id) FROM received_messages WHERE message_id LIKE 'crash.%')`,
      sending: `UPDATE messages SET state = 'sent' WHERE direction = 'to_user'`,
      webhooks: `REPLACE INTO app_subscriptions VALUES ('${listener.id}', 'msgapp_business_account', 'http://elsewhere.test', 'vt', '[]', 1, NULL)`,
      'profile and uploads': 'UPDATE uploads SET file_offset = file_offset - 1 WHERE file_offset > 0',
      'phone numbers': 'UPDATE phone_numbers SET registration_epoch = registration_epoch + 1',
      groups: `UPDATE groups SET description = 'Another'`,
      operators: `UPDATE tokens SET revoked_time = 1 WHERE app_id = '${strangerIds.application}'`,
      'sign-up': "UPDATE accounts SET name = name || ' Ltd' WHERE name LIKE 'Signed up account%'",
      templates: 'UPDATE message_templates SET message_send_ttl_seconds = 31',
      calls: `UPDATE calls SET direction = iif(direction = 'USER_INITIATED', 'BUSINESS_INITIATED', 'USER_INITIATED')`,
    }
    test('every writer has a loss', () => {
      assert.deepEqual(
        Object.keys(losses).sort(),
        writers.map(({ name }) => name).sort(),
        'every writer needs an entry in `losses`, under its name: SQL that changes its rows, which its check must find',
      )
    })
    for (const [name, sql] of Object.entries(losses)) {
      test(name, async () => {
        const writer = writers.find((one) => one.name === name)
        change(sql)
        await assert.rejects(
          StoreView.look(place.dataDir, async (store) => writer?.check(store)),
          Contradiction,
        )
      })
    }
  })

  function change(sql: string): void {
    withHandle((handle) => handle.exec(sql))
  }

  function withHandle<T>(work: (handle: DatabaseSync) => T): T {
    const options = { enableForeignKeyConstraints: false, timeout: 5000 }
    const handle = new DatabaseSync(join(place.dataDir, 'switchboard.db'), options)
    try {
      return work(handle)
    } finally {
      handle.close()
    }
  }

  describe('sees rows that are out of step:', () => {
    const damages: readonly (readonly [problem: RegExp, sql: string])[] = [
      [/foreign_key_check/, 'DELETE FROM accounts'],
      [/the node \d+ has no row in media/, 'DELETE FROM media'],
      [/\d+ of groups has no node/, "DELETE FROM nodes WHERE kind = 'group'"],
      [/has no row in phone_numbers/, "INSERT INTO nodes VALUES ('4999999999999999', 'account_number', '1', NULL)"],
      [/nodes of the kind stray/, "INSERT INTO nodes VALUES ('4999999999999999', 'stray', '1', NULL)"],
      [/are of different accounts/, "UPDATE nodes SET account_id = '1' WHERE kind = 'schedule'"],
      [/a use of a content is of nothing/, "INSERT INTO file_uses SELECT sha256, 'media:1' FROM files LIMIT 1"],
      [/a medium does not use its content/, "DELETE FROM file_uses WHERE used_by LIKE 'media:%'"],
      [
        /a picture does not use its content/,
        `REPLACE INTO profile_pictures SELECT '${numbers.main}', 'made-up', sha256, 'image/png' FROM files LIMIT 1`,
      ],
      [/a message does not use its file/, "DELETE FROM file_uses WHERE used_by LIKE 'message:%'"],
      [
        /a message was accepted and waits for nothing/,
        "UPDATE messages SET state = 'accepted' WHERE direction = 'to_user'",
      ],
      [/was not told once/, 'UPDATE messages SET read_time = created_time'],
      [
        /before another that it follows/,
        `INSERT INTO events (id, account_id, phone_number_id, field, value, created_time, trace)
          SELECT id + 1000000, account_id, phone_number_id, field, value, created_time, trace FROM events`,
      ],
      [/a medium has another size/, 'UPDATE media SET file_size = file_size + 1'],
      [/an upload is half finished/, 'UPDATE uploads SET file_offset = file_length + 1'],
      [/a medium never expires/, "DELETE FROM timers WHERE kind = 'media.expire'"],
      [/is never swept/, "DELETE FROM file_uses; DELETE FROM timers WHERE kind = 'files.sweep'"],
      [/a call is half ended/, "UPDATE calls SET ended_time = NULL WHERE state = 'ended'"],
      [/rings for ever/, "UPDATE calls SET state = 'ringing', ring_timer_id = NULL"],
      [
        /a code was never sent/,
        "REPLACE INTO verification_codes SELECT id, '', 9e15, NULL, 0, 0, 0 FROM phone_numbers; DELETE FROM carrier_messages",
      ],
      [/a number that was created has no code/, "UPDATE phone_numbers SET code_verification_status = 'UNVERIFIED'"],
      [/has no PIN/, 'UPDATE phone_numbers SET registered = TRUE; DELETE FROM two_step_pins'],
      [/a solution has not its two apps/, "DELETE FROM solution_apps WHERE role = 'PARTNER'"],
      [/not shown to its partner/, 'DELETE FROM node_shares'],
      [/an event has not its one delivery/, 'DELETE FROM deliveries'],
      [
        /an event of a connection goes to an app that is not connected/,
        `UPDATE deliveries SET app_id = '${ids.application}'`,
      ],
      [/a connection has not one event/, "DELETE FROM events WHERE field = 'account_update'"],
      [
        /a token outlives its connection/,
        'UPDATE connections SET ended_time = 1; UPDATE tokens SET revoked_time = NULL',
      ],
      [/a code outlives its connection/, 'UPDATE sign_up_codes SET token_id = NULL'],
      [/a connection gives no access/, "DELETE FROM account_access WHERE relation = 'connected'"],
      [/a delivery is half finished/, 'UPDATE deliveries SET finished_time = NULL'],
      [/the tries at a delivery/, 'UPDATE deliveries SET attempts = attempts + 1'],
      [/a message was taken in without its event/, "DELETE FROM events WHERE field = 'messages'"],
      [/not one signing key/, 'DELETE FROM signing_keys'],
      [/not one key in use that seals/, 'UPDATE sealing_keys SET in_use = FALSE'],
      [/a value of apps\.secret is not sealed/, "UPDATE apps SET secret = 'plain'"],
    ]
    for (const [problem, sql] of damages) {
      test(problem.source, () => {
        const problems = withHandle((handle) => {
          handle.exec('BEGIN IMMEDIATE')
          handle.exec(sql)
          try {
            return findRowProblems(new StoreView(handle))
          } finally {
            handle.exec('ROLLBACK')
          }
        })
        assert.match(problems.join('\n'), problem)
      })
    }
  })

  describe('sees files that are out of step:', () => {
    const findProblems = () =>
      StoreView.look(place.dataDir, async (store) =>
        (await findFileProblems(store, place.dataDir, Date.now())).join('\n'),
      )
    /** A file that is used. */
    async function chooseFile(): Promise<string> {
      const used = withHandle((handle) => handle.prepare('SELECT sha256 FROM file_uses LIMIT 1').get())
      const sha256 = String(used?.['sha256'])
      return join(place.dataDir, 'files', sha256.slice(0, 2), sha256.slice(2))
    }

    test('one that is lost, cut short or changed', async () => {
      const file = await chooseFile()
      const bytes = await readFile(file)
      assert.doesNotMatch(await findProblems(), /file/)
      await rm(file)
      assert.match(await findProblems(), /is gone, which is used/)
      await writeFile(file, bytes)
      await truncate(file, bytes.length - 1)
      assert.match(await findProblems(), new RegExp(`has ${bytes.length - 1} bytes, not ${bytes.length}`))
      await writeFile(file, Buffer.alloc(bytes.length))
      assert.match(await findProblems(), /has other bytes than its name says/)
      await writeFile(file, bytes)
      assert.doesNotMatch(await findProblems(), /file/)
    })

    test('one that nothing knows of, whole, half arrived, or a piece of no upload', async () => {
      assert.ok((await listFiles(place.dataDir)).length > 0)
      for (const [name, problem] of [
        [`files/ab/${'c'.repeat(62)}`, /nothing knows of it/],
        ['files/incoming/1-somebody', /nothing knows of it/],
        ['uploads/stray', /is of no unfinished upload/],
      ] as const) {
        const stray = join(place.dataDir, name)
        await mkdir(dirname(stray), { recursive: true })
        await writeFile(stray, 'stray')
        assert.match(await findProblems(), problem, name)
        await rm(stray)
        assert.doesNotMatch(await findProblems(), problem, name)
      }
    })

    test('a content that nothing uses any more and that was not swept', async () => {
      change('UPDATE files SET held_until = 0')
      change('DELETE FROM file_uses')
      assert.match(await findProblems(), /which nothing uses or holds/)
    })
  })

  test('what finds contradictions does not wait for ever for a timer that does not go off', async () => {
    const columns = 'id, kind, due_time, payload, attempts, leased_until, set_time'
    change(`INSERT INTO timers (${columns}) VALUES ('stuck', 'unknown', 0, '{}', 0, 0, 0)`)
    await assert.rejects(whenNothingIsDue(place.dataDir, 1), /do not go off, such as one of unknown/)
  })

  test('what finds contradictions hears of an event that nobody asked for', async () => {
    const value = { messages: [{ id: 'made up' }] }
    await fetch(`${sink.url}/${hearsAll}`, {
      method: 'POST',
      body: JSON.stringify({ entry: [{ changes: [{ value }] }] }),
    })
    assert.throws(() => sink.judge(doors.expectedEvents.possible), /message made up came but was never asked for/)
  })
})
