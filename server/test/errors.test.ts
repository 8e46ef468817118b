import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { collectMessages, type Message } from '../src/generate/error-messages.ts'
import { describeError, keyOf, meanings, writeErrorsPage } from '../src/generate/errors-page.ts'
import { readConstants, readTexts } from '../src/generate/message-texts.ts'
import { readGroups, readTokens } from '../src/generate/source-tokens.ts'
import * as catalogue from '../src/graph/errors.ts'
import { describeSchema } from '../src/graph/validation.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { fullInput } from '../src/http/route-table.ts'
import { buildOperations } from '../src/operations.ts'

const words = chooseVocabulary('msgapp')
const messages = collectMessages(fileURLToPath(new URL('../src', import.meta.url)))
const answered = messages.flatMap(({ error, ...message }) => (error ? [{ ...message, error }] : []))

interface SchemaPart {
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly items?: SchemaPart
  readonly anyOf?: readonly SchemaPart[]
}

/** What is said of every argument of every operation that has the wrong form. */
function* listArgumentMessages(): Generator<{ operation: string; text: string }> {
  function* walk(operation: string, place: string, schema: SchemaPart): Generator<{ operation: string; text: string }> {
    if (place !== '') {
      yield { operation, text: catalogue.badArgument(place, `it must be ${describeSchema(schema)}.`).message }
    }
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      yield* walk(operation, place === '' ? name : `${place}.${name}`, member)
    }
    if (schema.items) yield* walk(operation, `${place}[0]`, schema.items)
  }
  for (const operation of buildOperations(words)) yield* walk(operation.name, '', fullInput(operation) as SchemaPart)
}

const argumentMessages = [...listArgumentMessages()]

/** The decisions' table of statuses, codes and types. */
const typeOf: Readonly<Record<number, string>> = {
  400: 'OAuthException',
  401: 'OAuthException',
  403: 'OAuthException',
  404: 'GraphMethodException',
  416: 'OAuthException',
  422: 'GraphMethodException',
  429: 'OAuthException',
  500: 'GraphMethodException',
}
const codesOf: Readonly<Record<number, readonly number[]>> = {
  400: [100],
  401: [104, 190],
  403: [200, 10, 138006],
  404: [803],
  416: [100],
  422: [100, 133005, 138003],
  429: [4, 138012],
  500: [2],
}
const subcodesOf: Readonly<Record<number, readonly number[]>> = { 190: [463], 4: [2446079, 2446080, 2390008] }

/** How a message says what would be right: in what must be so, or behind what is wrong, in a clause of its own. */
const advice = /\bmust\b|\brequired\b|; \S/
/** At the command line also in what a value is not, and behind a colon. */
const commandAdvice = /\bmust\b|; \S|: \S|\b(such as|one of|from \d+ to \d+)\b|^give /
/** Words that say nothing to whoever reads them, or that tell of the inside. */
const jargon =
  /\b(null|undefined|NaN|exception|stack|regexp?|schema|SQL|SQLite error|typebox|fastify|kysely|undici|deserializ\w+|payload error|bad request|oops|sorry|please)\b/i

interface Form {
  readonly isSentence: boolean
  readonly starts: RegExp
  readonly advice: RegExp
}

function findFaults(text: string, { isSentence, starts, advice }: Form): string[] {
  const said = text.replaceAll(/‹[^›]*›/g, 'X').replaceAll(/"[^"]*"/g, 'Q')
  return [
    ...(isSentence === said.endsWith('.')
      ? []
      : [isSentence ? 'it ends without a full stop' : 'it ends with a full stop']),
    ...(text.length <= 260 ? [] : ['it is longer than anybody reads']),
    ...(/\n/.test(text) ? ['it is more than one line'] : []),
    ...(/[.!?] +[A-Z]/.test(said.replaceAll(/\. ?\w+\b(?=[^ ])/g, '')) ? ['it is more than one sentence'] : []),
    ...(starts.test(text) ? [] : ['it starts in another way than the others']),
    ...(advice.test(text) ? [] : ['it does not say what would be right']),
    ...(/\b(invalid|illegal|malformed|wrong format)\b/i.test(said) ? ['"invalid" does not say what is wrong'] : []),
    ...(jargon.test(said) ? [`"${jargon.exec(said)?.[0]}" says nothing to people`] : []),
    ...(/ {2}|\s$|^\s|;\.|\.\.$|,\.|;;/.test(text) ? ['its signs are wrong'] : []),
  ]
}

/** `argument: it …`, or a sentence. */
const answerStart = /^(?:[a-z‹][\w.‹› [\]]*: (?:[a-z‹"0-9]|[A-Z])|[A-Z"])/
const fileStart = /^[a-z‹]/
const commandStart = /^(?:[a-z‹]|--|ROLE|HOST|MAX_)/

function faultsOf({ audience, text }: Pick<Message, 'audience' | 'text'>): string[] {
  if (audience === 'command')
    return findFaults(text, { isSentence: false, starts: commandStart, advice: commandAdvice })
  return findFaults(text, { isSentence: true, starts: audience === 'api' ? answerStart : fileStart, advice })
}

describe('the messages of errors', () => {
  test('all of them, as a table; each says in one sentence what was wrong and what would be right', (t) => {
    const rows = [
      ...answered.map(({ text, error }) => {
        const { status, code, subcode, type } = describeError(error, words)
        return [status, code, subcode ?? '-', type, text]
      }),
      ...argumentMessages.map(({ operation, text }) => [400, 100, '-', 'OAuthException', `${text} (${operation})`]),
      ...messages.filter(({ error }) => !error).map(({ audience, text }) => ['-', '-', '-', audience, text]),
    ]
    for (const row of rows) t.diagnostic(row.join(' | '))
    assert.ok(answered.length > 200 && argumentMessages.length > 150 && rows.length > 450, `${rows.length} are found`)

    const all = [...messages, ...argumentMessages.map(({ text }) => ({ audience: 'api' as const, text }))]
    const faults = all.flatMap((message) => faultsOf(message).map((fault) => `${message.text} — ${fault}`))
    assert.deepEqual([...new Set(faults)], [])
  })

  test('a message that does not is found', () => {
    const say = (text: string, audience: Message['audience'] = 'api') => faultsOf({ audience, text })
    assert.deepEqual(say('name: it is wrong.'), ['it does not say what would be right'])
    assert.deepEqual(say('name: it must be short'), ['it ends without a full stop'])
    assert.deepEqual(say('The name must be short. Send another.'), ['it is more than one sentence'])
    assert.deepEqual(say('Invalid name; send another.'), ['"invalid" does not say what is wrong'])
    assert.deepEqual(say('The value is null; send another.'), ['"null" says nothing to people'])
    assert.deepEqual(say('oh no; send another.'), ['it starts in another way than the others'])
    assert.deepEqual(say('--app X is not there; give another.', 'command'), ['it ends with a full stop'])
    assert.deepEqual(say(`name: it must be ${'very '.repeat(60)}short.`), ['it is longer than anybody reads'])
  })

  test('no pattern is shown to a person: where a schema has one, it says in words what it takes', () => {
    for (const { operation, text } of argumentMessages) assert.doesNotMatch(text, / that matches /, operation)
  })

  test('status, code, subcode and type go together as the decisions say', () => {
    for (const { text, error } of answered) {
      const { status, code, subcode, type, transient } = describeError(error, words)
      assert.equal(type, typeOf[status], text)
      assert.ok(codesOf[status]?.includes(code), `${status} with code ${code}: ${text}`)
      if (subcode === undefined) assert.equal(subcodesOf[code], undefined, `${text} lacks its subcode`)
      else assert.ok(subcodesOf[code]?.includes(subcode), `${code} with subcode ${subcode}: ${text}`)
      assert.equal(transient, status === 429 || status === 500, text)
      assert.equal('retry-after' in error.headers, / try again in \d+ s\.$/.test(text), text)
      assert.equal(error.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined, text)
    }
  })

  test('every pair of status and code is told, and its meaning is on the page', () => {
    const told = new Set(answered.map(({ error }) => keyOf(error)))
    assert.deepEqual([...told].sort(), Object.keys(meanings).sort())
    const page = writeErrorsPage(messages, words)
    for (const meaning of Object.values(meanings)) assert.ok(page.includes(`| ${meaning} |`), meaning)
    for (const { text } of messages) {
      assert.ok(
        page
          .replaceAll(/\\([*_|])/g, '$1')
          .replaceAll('&lt;', '<')
          .replaceAll('&amp;', '&')
          .includes(text),
        text,
      )
    }
  })

  test('every function of the catalogue is among them', () => {
    const notMessages = ['GraphError', 'renderError']
    const made = Object.entries(catalogue)
      .filter(([name, value]) => typeof value === 'function' && !notMessages.includes(name))
      .map(([name]) => name)
    assert.deepEqual(
      made.sort(),
      [
        'badArgument',
        'cannotReachStore',
        'cannotStore',
        'demoTokenFromElsewhere',
        'featureOff',
        'forbidden',
        'internalFault',
        'invalidSignature',
        'invalidToken',
        'limitReached',
        'linkExpired',
        'malformedRequest',
        'missingPermission',
        'missingToken',
        'notFound',
        'nothingThere',
        'rangeNotSatisfiable',
        'rateLimited',
        'ruleBroken',
        'staleSignature',
        'storeBusy',
        'unknownOperation',
        'unknownVersion',
        'wrongKind',
      ],
      'a new one needs its line in error-messages.ts, and then here',
    )
  })
})

describe('reading messages from the sources', () => {
  const read = (source: string) => {
    const tokens = readTokens(source)
    const open = tokens.findIndex((token) => token.kind === 'sign' && token.text === '(')
    return readTexts(readGroups(tokens, open).groups[0] ?? [], readConstants(tokens, open))
  }

  test('texts, templates, choices and constants are put together', () => {
    assert.deepEqual(read("f('it\\'s so')"), ["it's so"])
    assert.deepEqual(read('f(`up to $' + '{settings.maxUsers} in $' + '{JSON.stringify(name.slice(0, 4))}`)'), [
      'up to ‹max users› in ‹name›',
    ])
    assert.deepEqual(read("const max = 1_000n; const who = 'all'; f(`$" + '{who} $' + '{max}`)'), ['all 1000'])
    assert.deepEqual(read("f(a?.b ?? c ? 'x' : d === 2 ? `y$" + "{e ? 'z' : 'w'}` : 'v')"), ['x', 'yz', 'yw', 'v'])
    assert.equal(read('f(describe(it))'), undefined)
  })

  test('comments and patterns are no texts', () => {
    const kinds = (source: string) => readTokens(source).map(({ kind }) => kind)
    assert.deepEqual(kinds("// it's\n/* `no */ a = /['\"`]/g"), ['word', 'sign', 'pattern'])
    assert.deepEqual(kinds("a / 2 + b / 'c'"), ['word', 'sign', 'word', 'sign', 'word', 'sign', 'text'])
  })
})
