import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { buildProgram } from '../src/cli/program/program.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { doorOf } from '../src/http/openapi/doors.ts'
import { buildOperations, chapters } from '../src/operations.ts'
import { settings } from '../src/settings/index.ts'
import { makeStorePlace, type StorePlace } from './harness/databases.ts'
import { openShell, type Shell } from './harness/shell.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const readPage = (name: string) => readFileSync(join(root, 'docs', name), 'utf8')
const [curlPage, walkPage, runningPage, commandsPage, signUpPage] = [
  'curl.md',
  'walk.md',
  'running.md',
  'commands.md',
  'sign-up.md',
].map(readPage) as [string, string, string, string, string]

interface Block {
  readonly heading: string
  readonly language: string
  readonly lines: readonly string[]
}

/** Every block of code of a page, with the heading that it stands under. */
function readBlocks(page: string): Block[] {
  const blocks: Block[] = []
  let heading = ''
  for (const [, title, language = '', text = ''] of page.matchAll(/^#{1,6} (.+)$|^```(\w*)\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title
    else blocks.push({ heading, language, lines: text.trimEnd().split('\n') })
  }
  return blocks
}

/** A port that nobody listens on. */
async function findFreePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return String(port)
}

const blocks = readBlocks(readme)
type Blocks<Count extends number, Found extends Block[] = []> = Found['length'] extends Count
  ? Found
  : Blocks<Count, [...Found, Block]>

const [start, startForBot, bot, listen, variables, chat, user, app, runApp, subscribe, runTests] = blocks as Blocks<11>
const walkBlocks = readBlocks(walkPage)
const [verify, profile, call, audit] = walkBlocks as Blocks<4>

/** The block of code of the operators' page under a heading. */
function findRunning(heading: string): Block {
  const [found, ...others] = readBlocks(runningPage).filter((block) => block.heading === heading)
  assert.ok(found && others.length === 0, `docs/running.md needs one block of code under "${heading}"`)
  return found
}
const [docker, grow] = [findRunning('Docker'), findRunning('From one file to PostgreSQL')]

const signUpBlocks = readBlocks(signUpPage).filter(({ language }) => language === 'sh')
const shellBlocks = [...blocks.filter((block) => block !== app), ...walkBlocks, ...signUpBlocks, docker, grow]

const success = /^\{"success":true\}\n$/

/** What each line of the walk shows, in its order. */
const shown: readonly (readonly [Block, readonly RegExp[]])[] = [
  [chat, [/"wa_id":"16505551234".*"messages":\[\{"id":"wamid\./, /^\{"message_id":"wamid\.[\w-]+"\}\n$/]],
  [
    verify,
    [
      success,
      /^\d{6}\n$/,
      /^\{"success":true,"id":"4000000000000002"\}\n$/,
      /"display_phone_number":"\+1 631-555-1002".*"code_verification_status":"VERIFIED"/,
    ],
  ],
  [
    profile,
    [success, /^\{"data":\[\{"business_profile":\{"about":"Open on Sundays","websites":\["https:.*"\]\}\}\]\}\n$/],
  ],
  [call, [/^wacid\.[\w-]+\n$/, success, success]],
  [audit, [/"calls\.act".*"calls\.act".*"profile\.update"/]],
]

describe('the README', () => {
  let place: StorePlace
  let postgres: StorePlace
  let server: Shell
  let address: string
  const opened: Shell[] = []

  /** A shell in a folder that looks like a clone: `./switchboard` is there, and what it leaves behind goes with the folder. */
  function open(env: Readonly<Record<string, string>>): Shell {
    const shell = openShell(place.dataDir, env)
    opened.push(shell)
    return shell
  }

  before(async () => {
    place = await makeStorePlace('sqlite')
    await symlink(join(root, 'switchboard'), join(place.dataDir, 'switchboard'))
    server = open({ PORT: '0' })
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const [, url] = await server.pasteUntil(scripts.start, /^switchboard listening on http:\/\/(\S+)$/m)
    address = url as string
  })
  after(async () => {
    for (const shell of opened.reverse()) await shell.stop()
    await postgres?.remove()
    await place.remove()
  })

  const here = (line: string) => line.replaceAll('127.0.0.1:8080', address)

  test('every block of code is known here, so that none is without a test', () => {
    assert.deepEqual(
      blocks.map(({ heading }) => heading),
      [
        'Start',
        ...Array(2).fill('Your existing bot against it'),
        ...Array(4).fill('First walk'),
        ...Array(3).fill('Connect your own app'),
        'Tests',
      ],
    )
    assert.deepEqual([start.lines, runTests.lines], [['npm start'], ['npm test']])
    assert.deepEqual(
      walkBlocks.map(({ heading }) => heading),
      ['Verify a number', 'Change a profile', 'Make a call', 'Read the audit log'],
    )
    for (const { language } of [...shellBlocks, ...readBlocks(curlPage)]) assert.equal(language, 'sh')
    assert.equal(app.language, 'js')
    const walked = shown.reduce((sum, [{ lines }]) => sum + lines.length, 0)
    assert.equal(walked, 12, 'the walk has twelve lines')
  })

  test('package.json has both commands of the README', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    assert.deepEqual([scripts.start, typeof scripts.test], ['exec ./switchboard start', 'string'])
  })

  test('no line would be read differently by bash and zsh at a prompt', () => {
    for (const line of [...shellBlocks, ...readBlocks(curlPage)].flatMap(({ lines }) => lines)) {
      assert.doesNotMatch(line, /^\s*#/, 'zsh takes a comment at its prompt for a command')
      const unquoted = line.replaceAll(/'[^']*'/g, "''")
      assert.doesNotMatch(unquoted, /!/, 'a prompt replaces an exclamation mark by what was typed before')
      assert.doesNotMatch(unquoted.replaceAll(/"[^"]*"/g, '""'), /[?*[\]]/, 'zsh refuses a pattern without a match')
    }
  })

  test('a bot of the public platform works with the base URL and the values of the README', async (t) => {
    const own = await makeStorePlace('sqlite')
    const shells: Shell[] = []
    t.after(async () => {
      for (const shell of shells) await shell.stop()
      await own.remove()
    })
    await symlink(join(root, 'switchboard'), join(own.dataDir, 'switchboard'))
    const openThere = (env: Readonly<Record<string, string>>) => {
      const shell = openShell(own.dataDir, env)
      shells.unshift(shell)
      return shell
    }
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const [line = '', ...others] = startForBot.lines
    assert.deepEqual(others, [])
    const started = openThere({ PORT: '0' })
    const command = line.replace('npm start', scripts.start)
    const [, there = ''] = await started.pasteUntil(command, /^switchboard listening on http:\/\/(\S+)$/m)
    const [send = ''] = bot.lines
    const sent = await openThere({}).paste(send.replace('127.0.0.1:8080', there))
    assert.match(sent, /^\{"messaging_product":"whatsapp".*"messages":\[\{"id":"wamid\./)
    for (const value of ['4000000000000001', '1000000000000001', 'shrub-app-secret', '127.0.0.1:8080/v23.0']) {
      assert.ok(readme.includes(`\`${value.replace(/^127/, 'http://127')}\``), value)
    }
  })

  test('the first walk shows what it says, line by line, and its webhooks arrive', async () => {
    const second = open({})
    await second.pasteUntil(listen.lines.join('\n'), /^Listening for app 3000000000000001 at /m)

    const third = open({ PORT: address.split(':')[1] as string })
    for (const line of variables.lines) assert.equal(await third.paste(here(line)), '')
    for (const [{ lines }, patterns] of shown) {
      assert.equal(lines.length, patterns.length, `each line shows something: ${lines.join('\n')}`)
      for (const [index, line] of lines.entries()) {
        assert.match(line, /\bcurl /)
        assert.match(await third.paste(line), patterns[index] as RegExp, line)
      }
    }
    for (const event of ['connect', 'ACCEPTED', 'terminate COMPLETED']) {
      await second.shows(new RegExp(`✓ calls account 1000000000000001 .*${event}`))
    }

    for (const event of ['sent', 'delivered', '“Great, thanks.”']) {
      await second.shows(new RegExp(`✓ messages account 1000000000000001 .*${event}`))
    }

    const [message = '', deliveries = ''] = user.lines
    assert.match(await third.paste(message), /← 200 \{"message_id":"wamid\./)
    await second.shows(/✓ messages account 1000000000000001 .* text from 16505551234 .*“Do you have ferns\?”/)
    assert.match(await third.paste(deliveries), /messages +delivered(?:.*\n.*calls +delivered){3}/)
    assert.equal(user.lines.length, 2)
  })

  test('the app of the README is subscribed, takes what is signed, and refuses what is not', async () => {
    const port = await findFreePort()
    const onPort = (line: string) => here(line).replaceAll(/\b3000\b/g, port)
    await writeFile(join(place.dataDir, 'app.mjs'), app.lines.map(onPort).join('\n'))
    const own = open({})
    await own.pasteUntil(runApp.lines.join('\n'), /^listening$/m)
    const third = open({ PORT: address.split(':')[1] as string })
    for (const line of variables.lines) await third.paste(here(line))
    const [subscribing = '', linking = '', message = '', ...others] = subscribe.lines
    assert.deepEqual(others, [])
    assert.match(await third.paste(onPort(subscribing)), success)
    assert.match(await third.paste(onPort(linking)), success)
    assert.match(await third.paste(onPort(message)), /← 200 \{"message_id":"wamid\./)
    await own.shows(/^\{"field":"messages".*Hello, app/m)
    const forged = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: '{"entry":[]}',
      headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
    })
    assert.equal(forged.status, 401)
    await own.shows(/^wrong signature$/m)
  })

  test('the lines about Docker fit the Dockerfile', () => {
    const file = readFileSync(join(root, 'Dockerfile'), 'utf8')
    const [build = '', run = '', ...others] = docker.lines
    assert.deepEqual([build, others], ['docker build -t switchboard .', []])
    assert.match(file, /^EXPOSE 8080$/m)
    assert.match(run, /-p 127\.0\.0\.1:8080:8080 .* switchboard$/)
    assert.match(file, /^ENV NODE_ENV=production HOST=0\.0\.0\.0 PORT=8080 DATA_DIR=\/data$/m)
    for (const [, name = ''] of run.matchAll(/-e (\w+)=/g)) {
      assert.ok(name === 'NODE_ENV' || Object.values(settings).some((setting) => setting.name === name), name)
    }
    assert.match(runningPage, /-v switchboard-data:\/data/)
    assert.match(file, /^VOLUME \/data$/m)
    assert.match(file, /^ENTRYPOINT \["node", .*"\/usr\/local\/bin\/switchboard"\]$/m)
    assert.match(runningPage, /docker exec CONTAINER switchboard/)
  })

  /** Those whose operations a business calls. */
  const used = new Set(
    buildOperations(chooseVocabulary('msgapp'))
      .filter((row) => doorOf(row).document === 'business')
      .map(({ chapter }) => chapter),
  )
  const chaptersOfBusinesses = chapters.flatMap(({ name, title }) => (used.has(name) ? [title] : []))

  test('one line for every chapter works when pasted after npm start', async () => {
    const shell = open({})
    const [first, ...others] = readBlocks(curlPage)
    for (const line of first?.lines ?? []) await shell.paste(here(line))
    assert.deepEqual(
      [...new Set(others.map(({ heading }) => heading))],
      chaptersOfBusinesses,
      'docs/curl.md needs one heading for each chapter, its title, in the order of `chapters` (server/src/operations.ts)',
    )
    for (const line of others.flatMap(({ lines }) => lines)) {
      assert.match(line, /^curl /)
      const answer = JSON.parse(await shell.paste(here(line)))
      assert.equal(answer.error, undefined, `${line}\n${JSON.stringify(answer)}`)
    }
  })

  test('the page of the sign-up connects a business, line by line, and ends the connection', async () => {
    const shell = open({})
    const outputs: string[] = []
    for (const line of signUpBlocks.flatMap(({ lines }) => lines)) {
      const output = await shell.paste(here(line))
      if (output !== '') outputs.push(output)
    }
    const patterns = [
      /^http:\/\/127\.0\.0\.1:9000\/connected\?code=[\w-]{43}&state=[\da-f]{32}\n$/,
      /^sb_[\w-]+\n$/,
      /"app_id":"3000000000000002".*"is_valid":true.*"target_ids":\["1000000000000001"\]/,
      /^\{"id":"2300000000000001","name":"Ada Shrub"\}\n$/,
      /^\{"data":\[\{"id":"\d+","display_phone_number":/,
      success,
      /"messages":\[\{"id":"wamid\./,
      /"Ada Shrub"/,
      /^\{"access_token":"3000000000000002\|partner-app-secret","token_type":"bearer"\}\n$/,
      /^\{"access_token":"sb_[\w-]+","token_type":"bearer","expires_in":5184000\}\n$/,
      success,
      success,
    ]
    assert.equal(outputs.length, patterns.length)
    for (const [index, pattern] of patterns.entries()) assert.match(outputs[index] ?? '', pattern)
  })

  test('what was done on one file is there on PostgreSQL', async () => {
    postgres = await makeStorePlace('postgres')
    const shell = open({ PORT: '0' })
    const named = 'postgres://user:password@host:5432/switchboard'
    const outputs: string[] = []
    for (const line of grow.lines.slice(0, -1)) {
      outputs.push(await shell.paste(line.replace(named, postgres.databaseUrl ?? '')))
    }
    assert.ok(grow.lines.some((line) => line.includes(named)))
    const [made, gateway] = [outputs.at(-2)?.trim(), (await shell.paste('echo "$SWITCHBOARD_GATEWAY_TOKEN"')).trim()]
    assert.equal(grow.lines.at(-1), './switchboard serve')
    const [, url] = await shell.pasteUntil('./switchboard serve', /^switchboard listening on (\S+)$/m)
    const answer = await fetch(`${url}/v23.0/4000000000000001/msgapp_business_profile?fields=about`, {
      headers: { authorization: `Bearer ${made}` },
    })
    assert.deepEqual(await answer.json(), { data: [{ business_profile: { about: 'Plants for every corner' } }] })
    const other = open({ SWITCHBOARD_GATEWAY_TOKEN: gateway })
    const simulated = './switchboard simulate message --to 4000000000000001 --from 16505551234'
    assert.match(await other.paste(`${simulated} --url ${url}`), /← 200 \{"message_id":"wamid\./)
  })

  test('the table of commands names every command there is, and no other', () => {
    const cells = [...commandsPage.matchAll(/^\| (`\.\/switchboard .*?) \| /gm)].map(([, cell]) => cell as string)
    const named = cells.flatMap((cell) => {
      const [head = '', ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => (text as string).split(' '))
      const [, command = '', ...vocabulary] = head
      const inner = vocabulary[0]?.split('\\|').filter((word) => /^[a-z][a-z-]*$/.test(word)) ?? []
      const more = others.map((other) => (other[0] === command ? other[1] : other[0]))
      return inner.length === 0 ? [command] : [...inner, ...more].map((word) => `${command} ${word}`)
    })
    const list = ({ commands }: Command, above: string): string[] =>
      commands.flatMap((one) => {
        const inner = list(one, `${above}${one.name()} `)
        // Some, such as `clock`, do something without a command inside them too, and have options for that.
        return inner.length === 0 || one.options.length > 0 ? [`${above}${one.name()}`, ...inner] : inner
      })
    // `start` is what npm start does.
    const there = list(buildProgram(), '').filter((name) => name !== 'start')
    assert.deepEqual(named.sort(), there.sort())
  })

  test('the README has eleven commands, each as the page of all commands has it', () => {
    const lines = readme.split('\n').filter((line) => line.startsWith('| `./switchboard '))
    assert.equal(lines.length, 11)
    const all = commandsPage.split('\n').map((line) => line.replaceAll(/\]\((?!#)/g, '](docs/'))
    for (const line of lines) assert.ok(all.includes(line), line)
  })
})
