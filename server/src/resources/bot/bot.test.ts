import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertArgument, assertError } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, numbers, tokens } from '../../../test/harness/world.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { applyWorld } from '../../world/apply.ts'
import { readWorld } from '../../world/read.ts'
import { commandNameTaken } from './errors.ts'

onOneDatabase('bot', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const read = (query: Record<string, string> = {}) =>
    server.client.callRow(server.client.row('bot.read'), `/v23.0/${ids.bot}`, { token: tokens.owner, query })

  test('200 with everything but the id by default', async () => {
    assert.deepEqual((await read()).body, {
      prompts: ['Book a visit'],
      commands: [{ command_name: 'hours', command_description: 'When we are open' }],
      enable_welcome_message: true,
    })
  })

  test('bot: 200 with the id when it is asked for', async () => {
    assert.deepEqual((await read({ fields: 'id,enable_welcome_message' })).body, {
      id: ids.bot,
      enable_welcome_message: true,
    })
  })
})

onOneDatabase('the bot of a phone number', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const token = tokens.owner
  const pathOf = (number: string) => `/v23.0/${number}/conversational_automation`
  const read = (number: string, query: Record<string, string> = {}) =>
    server.client.callRow(server.client.row('bot.read_automation'), pathOf(number), { token, query })
  const set = (number: string, json: object) =>
    server.client.callRow(server.client.row('bot.set_automation'), pathOf(number), { token, json })
  const offer = {
    prompts: ['Book a visit', 'Ask for a price'],
    commands: [
      { command_name: 'hours', command_description: 'When we are open' },
      { command_name: 'größe_2', command_description: 'Which sizes there are' },
    ],
    enable_welcome_message: true,
  }
  const nothing = { prompts: [], commands: [], enable_welcome_message: false }

  test('200 before anything is set: nothing on offer, and no id', async () => {
    const answer = await read(await addNumber('51'))
    assert.deepEqual([answer.status, answer.body], [200, nothing])
  })

  test('the bot of a phone number: 200 when it is set; the edge shows it with its id, and that id is a node of its own', async () => {
    const answer = await set(numbers.main, offer)
    assert.deepEqual([answer.status, answer.body], [200, { success: true }])
    const { id, ...shown } = (await read(numbers.main)).body
    assert.deepEqual(shown, offer)
    assert.match(id, /^[1-9]\d{14,15}$/)
    const node = await server.client.callRow(server.client.row('bot.read'), `/v23.0/${id}`, { token })
    assert.deepEqual(node.body, offer)
    assert.equal((await server.client.get(`/v23.0/${id}`, { token: tokens.stranger })).status, 404)
  })

  test('the bot of a phone number: 200 when it is set again: the same bot, and what is left out is reset', async () => {
    await set(numbers.fresh, offer)
    const { id } = (await read(numbers.fresh)).body
    await set(numbers.fresh, { prompts: ['Only this'] })
    assert.deepEqual((await read(numbers.fresh)).body, { id, ...nothing, prompts: ['Only this'] })
    await set(numbers.fresh, {})
    assert.deepEqual((await read(numbers.fresh)).body, { id, ...nothing })
  })

  test('200 with the fields that are asked for alone', async () => {
    await set(numbers.shared, offer)
    const { body } = await read(numbers.shared, { fields: 'id,prompts' })
    assert.deepEqual(Object.keys(body), ['id', 'prompts'])
    assert.equal((await read(numbers.shared, { fields: 'phone_number_id' })).status, 400)
  })

  test('200 as a form whose lists are JSON, and members that are not known are ignored at every depth', async () => {
    const commands = JSON.stringify([{ ...offer.commands[0], colour: 'red' }])
    const answer = await server.client.post(pathOf(numbers.shared), {
      token,
      form: { commands, enable_welcome_message: 'true', colour: 'red' },
    })
    assert.equal(answer.status, 200, answer.text)
    const { id: _id, ...shown } = (await read(numbers.shared)).body
    assert.deepEqual(shown, { prompts: [], commands: [offer.commands[0]], enable_welcome_message: true })
  })

  const command = (command_name: string, command_description = 'Does it') => ({ command_name, command_description })
  const commandsOf = (count: number) => Array.from({ length: count }, (_, index) => command(`command_${index}`))
  for (const [what, json, status] of [
    ['3 prompts', { prompts: ['a', 'b', 'c'] }, 200],
    ['4 prompts', { prompts: ['a', 'b', 'c', 'd'] }, 400],
    ['a prompt of 80 characters', { prompts: ['🌱'.repeat(80)] }, 200],
    ['a prompt of 81 characters', { prompts: ['a'.repeat(81)] }, 400],
    ['an empty prompt', { prompts: [''] }, 400],
    ['a prompt that is no text', { prompts: [1] }, 400],
    ['30 commands', { commands: commandsOf(30) }, 200],
    ['31 commands', { commands: commandsOf(31) }, 400],
    ['a command name of 30 characters', { commands: [command('n'.repeat(30))] }, 200],
    ['a command name of 31 characters', { commands: [command('n'.repeat(31))] }, 400],
    ['an empty command name', { commands: [command('')] }, 400],
    ['a command name with a blank', { commands: [command('opening hours')] }, 400],
    ['a command name with a slash', { commands: [command('/hours')] }, 400],
    ['a command name twice', { commands: [command('hours'), command('prices'), command('hours')] }, 400],
    ['a description of 256 characters', { commands: [command('hours', 'd'.repeat(256))] }, 200],
    ['a description of 257 characters', { commands: [command('hours', 'd'.repeat(257))] }, 400],
    ['an empty description', { commands: [command('hours', '')] }, 400],
    ['a command without a description', { commands: [{ command_name: 'hours' }] }, 400],
    ['a welcome that is text in JSON', { enable_welcome_message: 'true' }, 400],
  ] as const) {
    test(`${status} for ${what}`, async () => {
      const answer = await set(numbers.smallBusiness, json)
      assert.equal(answer.status, status, answer.text)
      if (status === 400) assertArgument(answer, String(Object.keys(json)[0]))
    })
  }

  test('400 says which command has the name already, and changes nothing', async () => {
    await set(numbers.shared, offer)
    const answer = await set(numbers.shared, { commands: [command('a'), command('b'), command('a')] })
    assertError(answer, commandNameTaken('commands[2].command_name', { first: 0 }))
    assert.deepEqual((await read(numbers.shared)).body.commands, offer.commands)
  })

  test('one bot when many set it for the first time at the same moment', async () => {
    const number = await addNumber('52')
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => set(number, { ...offer, prompts: [`Prompt ${index}`] })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      answers.map(() => 200),
    )
    const { query } = server.database.read
    const bots = await query.selectFrom('bots').select('id').where('phone_number_id', '=', number).execute()
    assert.equal(bots.length, 1)
    const nodes = await query
      .selectFrom('nodes')
      .leftJoin('bots', 'bots.id', 'nodes.id')
      .select('nodes.id')
      .where('kind', '=', 'bot')
      .where('bots.id', 'is', null)
      .execute()
    assert.deepEqual(nodes, [], 'no node without its bot is left behind')
    assert.match((await read(number)).body.prompts.join(), /^Prompt \d$/)
  })

  test('200 for the partner that the account was shared with; 404 for a stranger', async () => {
    const path = pathOf(numbers.shared)
    assert.equal((await server.client.post(path, { token: tokens.partner, json: offer })).status, 200)
    assert.equal((await server.client.post(path, { token: tokens.stranger, json: offer })).status, 404)
  })

  /** A number that nothing was ever set for. */
  async function addNumber(digits: string): Promise<string> {
    const id = `40000000000000${digits}`
    const phone_numbers = [{ id, display_phone_number: `+1 631-555-10${digits}` }]
    const account = { id: accounts.shared, business_id: ids.business, name: 'Lucky Shrub Wholesale', phone_numbers }
    const world = readWorld(JSON.stringify({ accounts: [account] }), 'one more number')
    await applyWorld(server.database, server.clock, systemRandom, world)
    return id
  }
})
