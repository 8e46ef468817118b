import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { findCaller, insertToken, revokeToken } from '../src/auth/tokens.ts'
import { systemRandom } from '../src/base/keys/random.ts'
import type { Scope } from '../src/graph/caller.ts'
import type { BusinessOperation, Row } from '../src/graph/operation.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { isBusiness, nodeKindOf, placeholdersOf } from '../src/http/route-table.ts'
import { buildOperations } from '../src/operations.ts'
import { callSides } from './harness/calls.ts'
import type { Answer, CallOptions } from './harness/client.ts'
import { onBothDatabases } from './harness/databases.ts'
import { addDelivery } from './harness/delivered.ts'
import { dumpStore } from './harness/dump.ts'
import { exampleCall, pathOf, unknownId } from './harness/example-calls.ts'
import { byForm, testLong } from './harness/form.ts'
import { messageSides } from './harness/messages.ts'
import { useTestServer } from './harness/server.ts'
import { accounts, ids, qrCodes, strangerIds, templates, tokens } from './harness/world.ts'

/**
 * Every operation × every token that is unfit for its node, from the table: what such a caller is told of a node that is there is
 * to the last byte what it is told of one that never was, and nothing of it stays.
 */
const table = buildOperations(chooseVocabulary('msgapp'))
const operations = table.filter(isBusiness)

type Kind = keyof typeof ids

/** A user who has to do with the owner's number. */
const bystander = '16505559999'

/** Tokens that no world file of the tests has. */
const furtherTokens = {
  strangerUnscoped: 'token-of-the-stranger-without-scopes',
  strangerGateway: 'token-of-the-stranger-for-the-gateway',
  granularToNothing: 'token-for-no-account-at-all',
  granularGateway: 'token-of-the-gateway-for-one-account',
} as const

/** Who may not, by what the token is, and the kinds of the owner's nodes that are nevertheless visible to it. */
const unfit: readonly { readonly who: string; readonly token: string | undefined; readonly sees: readonly Kind[] }[] = [
  { who: 'nobody', token: undefined, sees: [] },
  { who: 'an unknown token', token: 'no-such-token', sees: [] },
  { who: 'a token in the form of a real one', token: `sb_${'A'.repeat(43)}`, sees: [] },
  { who: 'an expired token', token: tokens.expired, sees: [] },
  { who: 'a revoked token', token: tokens.revoked, sees: [] },
  { who: 'a stranger', token: tokens.stranger, sees: [] },
  { who: 'a stranger without the scope', token: furtherTokens.strangerUnscoped, sees: [] },
  { who: "a stranger's gateway", token: furtherTokens.strangerGateway, sees: [] },
  { who: 'a partner, on what was not shared', token: tokens.partner, sees: ['business', 'solution'] },
  {
    who: 'a granular token, on another account',
    token: tokens.granular,
    sees: ['business', 'application', 'extended_credit', 'business_user', 'solution', 'upload'],
  },
  {
    who: 'a granular token without an account',
    token: furtherTokens.granularToNothing,
    sees: ['business', 'application', 'extended_credit', 'business_user', 'solution', 'upload'],
  },
]

onBothDatabases('what is not visible', (engine) => {
  const server = useTestServer({ engine })
  let untouched: Record<string, string[]>
  let callId: string
  let messageId: string
  let inviteLink: string
  let delivered: { readonly delivery_id: string; readonly lane_id: string }
  let tokenId: string
  let replayId: string
  let trace: string

  before(async () => {
    const { database, clock } = server
    await database.transaction(async (tx) => {
      const token = await findCaller(tx, tokens.revoked)
      assert.ok(token && (await revokeToken(tx, clock, token.caller.token_id)))
      const both: Scope[] = ['msgapp_business_management', 'msgapp_business_messaging']
      const more = { accounts: null, expires_time: null }
      for (const [secret, app_id, scopes, granted] of [
        [furtherTokens.strangerUnscoped, strangerIds.application, ['business_management'], null],
        [furtherTokens.strangerGateway, strangerIds.application, ['gateway'], null],
        [furtherTokens.granularToNothing, ids.application, both, []],
        [furtherTokens.granularGateway, ids.application, ['gateway'], [accounts.shared]],
      ] as const) {
        await insertToken(tx, clock, systemRandom, { ...more, secret, app_id, scopes, accounts: granted })
      }
    })
    callId = await callSides(server).callUser(bystander)
    messageId = await messageSides(server).send(bystander)
    const link = await database.read.query
      .selectFrom('group_invite_links')
      .select('code')
      .where('group_id', '=', ids.group)
      .executeTakeFirstOrThrow()
    inviteLink = `${server.url}/invite/${link.code}`
    const written = await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: {} })
    trace = written.headers.get('x-svctrace-id') ?? ''
    delivered = await addDelivery(database, clock)
    tokenId = (await findCaller(database.read, tokens.owner))?.caller.token_id ?? ''
    const replay = { token: tokens.operator, json: { account_id: ids.account, until: '1d', job: true } }
    replayId = (await server.client.post('/operator/deliveries/replay', replay)).body.job.id
    await server.app.settle()
    untouched = await dumpStore(database)
  })

  for (const [index, operation] of operations.entries()) {
    const kind = nodeKindOf(operation) as Kind
    const strangers = unfit.filter(({ sees }) => !sees.includes(kind))
    // What they see is decided by the same code, so on PostgreSQL each operation meets another one of them.
    const tried =
      engine === 'sqlite' ? strangers : byForm(strangers.slice(index % strangers.length).slice(0, 1), strangers)
    describe(`${operation.method} ${operation.path} (${operation.name})`, () => {
      for (const { who, token, sees } of tried) {
        test(`${who}: no difference between a node that is there and one that is not`, async () => {
          const options = exampleCall(operation, token)
          const there = await call(operation, pathOf(operation, ids), options)
          const nowhere = await call(operation, pathOf(operation, ids, unknownId), options)
          assert.deepEqual(seenOf(there), seenOf(nowhere))
          assert.ok([401, 404].includes(there.status), there.text)
          assert.equal(there.status === 401, sees.length === 0 && !isToken(token))
        })
      }

      for (const [name, foreign, unknown] of foreignMembers(operation)) {
        test(`the owner, with a stranger's \`${name}\`: no difference to one that is nothing's`, async () => {
          const answers = await Promise.all(
            [foreign, unknown].map((value) => {
              const example = exampleCall(operation, tokens.owner, { [name]: value })
              return call(operation, withMember(operation, name, value), example)
            }),
          )
          const [there, nowhere] = answers.map((answer, index) => seenOf(answer, index === 0 ? foreign : unknown))
          assert.deepEqual(there, nowhere)
          assert.ok(answers.every(({ status }) => status >= 400))
        })
      }
    })
  }

  // A stream has no end: its own test listens with another account.
  for (const operation of table.filter(({ door, name }) => door === 'gateway' && name !== 'gateway.stream')) {
    test(`${operation.name}, by a gateway for another account: no difference between what is there and what is not`, async () => {
      const things: Record<string, [there: string, nowhere: string]> = {
        phone_number_id: [ids.phone_number, unknownId],
        call_id: [callId, 'wacid.q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ'],
        invite_link: [inviteLink, `${server.url}/invite/9Zb1J3V0QZq0mFhE2xkTtA`],
        to: ['16315551001', '16315550000'],
        template_id: [templates.order, unknownId],
        wa_id: [bystander, '16505550000'],
        user_wa_id: [bystander, '16505550000'],
        message_id: [messageId, 'wamid.q83vEjRWeJCrze8SNFZ4kKvN'],
        account_id: [ids.account, unknownId],
        q: [bystander, '16505550000'],
        // There are approved templates, and none that is disabled.
        status: ['APPROVED', 'DISABLED'],
      }
      const name = Object.keys(things).find((member) => Object.hasOwn(operation.examples.input ?? {}, member))
      assert.ok(
        name,
        `no member of the example of ${operation.name} is in \`things\`: add the one that names an object, with a value of the test world and one that nothing has`,
      )
      const answers = await Promise.all(
        (things[name] as string[]).map(async (value) => {
          const { [name]: _, ...rest } = operation.examples.input as Record<string, unknown>
          const input: Record<string, unknown> = { ...rest, [name]: value }
          const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, member: string) => {
            const given = input[member]
            delete input[member]
            return encodeURIComponent(String(given))
          })
          const options = operation.method === 'GET' ? { query: input as Record<string, string> } : { json: input }
          return seenOf(
            await server.client.call(operation.method, path, { token: furtherTokens.granularGateway, ...options }),
          )
        }),
      )
      assert.deepEqual(answers[0], answers[1])
    })
  }

  for (const operation of table.filter(({ door }) => door === 'operator')) {
    test(`${operation.name}, by an operator for another business: no difference between what is there and what is not`, async () => {
      const things: Record<string, [there: string, nowhere: string]> = {
        app_id: [ids.application, unknownId],
        account_id: [ids.account, unknownId],
        token_id: [tokenId, 't0000000000000000'],
        delivery_id: [delivered.delivery_id, '999999999'],
        lane_id: [delivered.lane_id, '00000000000000000000000000000000'],
        replay_id: [replayId, '00000000000000000000000000000000'],
        q: ['shrub', 'nothing has this name'],
        ids: [delivered.delivery_id, '999999999'],
        trace: [trace, 'ab'.repeat(16)],
      }
      // As a job a replay would leave its row; the tests of replays try that.
      const { job: _job, ...input } = operation.examples.input ?? {}
      const name = ['lane_id', 'delivery_id', 'token_id', 'replay_id', ...Object.keys(input)].find(
        (one) => one in input && things[one],
      )
      // What is about no node shows nothing of the owner's, whatever is asked.
      if (name === undefined) {
        // One takes a file alone, another never ends, and the third waits: their own tests try them with limits.
        if (['operator.apply_world', 'operator.stream', 'operator.wait'].includes(operation.name)) return
        const { text } = await server.client.call(operation.method, operation.path, {
          token: tokens.limitedOperator,
          ...(operation.method === 'GET' && { query: { limit: '1000' } }),
        })
        if (operation.name === 'operator.list_requests') {
          // Its own business's requests name what they asked for, whosever that is.
          const { data } = JSON.parse(text) as { data: { business_id: string | null }[] }
          assert.ok(data.every(({ business_id }) => business_id === strangerIds.business))
          return
        }
        for (const id of [ids.business, ids.account, ids.application, delivered.lane_id]) assert.ok(!text.includes(id))
        return
      }
      const answers = await Promise.all(
        (things[name] as string[]).map(async (value) => {
          const { [name]: _, ...rest } = input
          const path = operation.path.replace(`{${name}}`, encodeURIComponent(value))
          const sent = { ...rest, ...(path === operation.path && { [name]: value }) }
          const options = operation.method === 'GET' ? { query: sent as Record<string, string> } : { json: sent }
          return seenOf(
            await server.client.call(operation.method, path, { token: tokens.limitedOperator, ...options }),
            value,
          )
        }),
      )
      assert.deepEqual(answers[0], answers[1])
    })
  }

  test('nothing of all that stays: no row, no event, no record', async () => {
    const writes = operations.filter(({ effect }) => effect === 'write')
    for (const operation of writes) {
      for (const token of [tokens.stranger, furtherTokens.granularToNothing, undefined]) {
        const { sees } = unfit.find((caller) => caller.token === token) ?? assert.fail()
        if (sees.includes(nodeKindOf(operation) as Kind)) continue
        await call(operation, pathOf(operation, ids), exampleCall(operation, token))
      }
    }
    await server.app.settle()
    // What an operator did is recorded, also where there was nothing to do it to.
    const withoutOperators = ({ activities = [], ...others }: Record<string, string[]>) => ({
      ...others,
      activities: activities.filter((record) => !record.includes('"operation":"operator.')),
    })
    assert.deepEqual(withoutOperators(await dumpStore(server.database)), withoutOperators(untouched))
  })

  test('the bytes of a medium are as invisible as the medium', async () => {
    for (const { token, sees } of unfit) {
      if (sees.includes('media')) continue
      const [there, nowhere] = await Promise.all(
        [ids.media, unknownId].map((id) => server.client.get(`/media/${id}`, { token })),
      )
      assert.deepEqual(seenOf(there as Answer), seenOf(nowhere as Answer))
    }
  })

  testLong('a refusal takes no longer for what exists than for what does not', async () => {
    const read = operations.find(({ name }) => name === 'phone_numbers.read_info') as BusinessOperation
    const write = operations.find(({ name }) => name === 'profile.update') as BusinessOperation
    for (const operation of [read, write]) {
      const seen: string[] = []
      let isAlike = false
      // A look-up more, or a body that is read, would take far more than that, and every time; a busy machine does not.
      for (let attempt = 0; attempt < 5 && !isAlike; attempt++) {
        const { there, nowhere } = await compareTimes(operation)
        seen.push(`${there} ms against ${nowhere} ms`)
        isAlike = Math.abs(there - nowhere) < 0.5 * Math.min(there, nowhere)
      }
      assert.ok(isAlike, seen.join(', '))
    }
  })

  async function compareTimes(operation: Row): Promise<{ there: number; nowhere: number }> {
    const times: Record<'there' | 'nowhere', number[]> = { there: [], nowhere: [] }
    // In turn, so that what slows the machine down slows down both.
    const both = [
      ['there', ids.phone_number],
      ['nowhere', unknownId],
    ] as const
    for (let round = 0; round < 50; round++) {
      for (const [where, id] of round % 2 === 0 ? both : both.toReversed()) {
        const started = performance.now()
        await call(operation, pathOf(operation, ids, id), exampleCall(operation, tokens.stranger))
        times[where].push(performance.now() - started)
      }
    }
    return { there: quick(times.there), nowhere: quick(times.nowhere) }
  }

  function call(operation: Row, path: string, options: CallOptions): Promise<Answer> {
    return server.client.call(operation.method, path, options)
  }

  function isToken(token: string | undefined): boolean {
    return token === tokens.stranger || Object.values<unknown>(furtherTokens).includes(token)
  }
})

/** All that a caller sees of an answer but what is new in every one: its trace and its time. `own`: what the caller sent itself. */
function seenOf({ status, headers, text }: Answer, own = ''): object {
  const trace = headers.get('x-svctrace-id') ?? ''
  assert.match(trace, /^[\da-f]{32}$/)
  const shown = Object.fromEntries([...headers].filter(([name]) => !['date', 'x-svctrace-id'].includes(name)))
  if (own !== '') delete shown['content-length']
  const blank = (value: string) => value.replaceAll(trace, '<trace>').replaceAll(own || trace, '<own>')
  return { status, text: blank(text), headers: shown }
}

/** Arguments of an example that name things of the owner: the same kind of thing of a stranger, and of nobody. */
function foreignMembers(operation: Row): [name: string, foreign: string, unknown: string][] {
  return Object.entries(operation.examples.input ?? {}).flatMap(([name, value]): [string, string, string][] => {
    if (value === qrCodes.main || value === qrCodes.spare) return [[name, qrCodes.stranger, 'NOBODYSCODE123']]
    const kind = (Object.keys(ids) as Kind[]).find((known) => ids[known] === value)
    return kind === undefined ? [] : [[name, strangerIds[kind], unknownId]]
  })
}

function withMember(operation: Row, name: string, value: string): string {
  if (!placeholdersOf(operation.path).includes(name)) return pathOf(operation, ids)
  const example = { ...operation.examples, input: { ...operation.examples.input, [name]: value } }
  return pathOf({ ...operation, examples: example } as BusinessOperation, ids)
}

/** What it takes when nothing else is in the way: the quicker tenth of the times. */
function quick(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 10)] as number
}
