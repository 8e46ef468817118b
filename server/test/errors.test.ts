import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { keyOf, meanings, writeErrorsPage } from '../../scripts/generate/errors-page.ts'
import { listErrors } from '../src/errors.ts'
import { badArgument, defineError, defineProblem } from '../src/graph/define-error.ts'
import { argumentMissing, argumentWrong, type cannotStore, type invalidToken } from '../src/graph/errors.ts'
import { type ErrorDefinition, GraphError } from '../src/graph/graph-error.ts'
import { describeSchema } from '../src/graph/input/validation.ts'
import { renderError, usualForm } from '../src/graph/shown-errors/render-error.ts'
import { hasTitle } from '../src/graph/shown-errors/titles.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { fullInput } from '../src/http/route-table.ts'
import { buildOperations } from '../src/operations.ts'

const vocabulary = chooseVocabulary('msgapp')
const root = resolve(import.meta.dirname, '../src')
const errors = listErrors()

interface SchemaPart {
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly items?: SchemaPart
}

/** The sentences about every argument of every operation that has the wrong form. */
function* listArgumentSentences(): Generator<string> {
  function* walk(place: string, schema: SchemaPart): Generator<string> {
    if (place !== '') yield badArgument(argumentWrong(place, { expected: describeSchema(schema) })).message
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      yield* walk(place === '' ? name : `${place}.${name}`, member)
    }
    if (schema.items) yield* walk(`${place}[0]`, schema.items)
  }
  for (const operation of buildOperations(vocabulary)) yield* walk('', fullInput(operation) as SchemaPart)
}

/** How a sentence says what would be right: in what must be so, or behind what is wrong, in a clause of its own. */
const advice = /\bmust\b|\brequired\b|; \S/
/** Words that say nothing to whoever reads them, or that tell of the inside. */
const jargon =
  /\b(null|undefined|NaN|exception|stack|regexp?|schema|SQL|SQLite error|typebox|fastify|kysely|undici|deserializ\w+|payload error|bad request|oops|sorry|please)\b/i
/** `argument: it …`, or a sentence. */
const start = /^(?:[a-z{][\w.{} [\]-]*: (?:[a-z{"0-9]|[A-Z])|[A-Z"{])/

function findFaults(text: string): string[] {
  const said = text.replaceAll(/\{[a-z]\w*\}/g, 'X').replaceAll(/"[^"]*"/g, 'Q')
  return [
    ...(/[.?]$/.test(said) ? [] : ['it ends without a full stop']),
    ...(text.length <= 260 ? [] : ['it is longer than anybody reads']),
    ...(/\n/.test(text) ? ['it is more than one line'] : []),
    ...(/[.!?] +[A-Z]/.test(said.replaceAll(/\. ?\w+\b(?=[^ ])/g, '')) ? ['it is more than one sentence'] : []),
    ...(start.test(text) ? [] : ['it starts in another way than the others']),
    ...(advice.test(text) ? [] : ['it does not say what would be right']),
    ...(/\b(invalid|illegal|malformed|wrong format)\b/i.test(said) ? ['"invalid" does not say what is wrong'] : []),
    ...(jargon.test(said) ? [`"${jargon.exec(said)?.[0]}" says nothing to people`] : []),
    ...(/ {2}|\s$|^\s|;\.|\.\.$|,\.|;;/.test(text) ? ['its signs are wrong'] : []),
  ]
}

describe('the catalogue of errors', () => {
  test('every code has a title for the vocabularies that show one', () => {
    const untitled = listErrors().filter(({ definition: { code } }) => !hasTitle(code))
    assert.deepEqual(
      untitled.map(({ definition }) => definition.code),
      [],
    )
  })

  test('the catalogue of errors holds every error that a source defines', () => {
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
    )
    const defined = sources.flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/\bdefine(?:Error|Problem)\(\{\s*id: '(\w+)'/g)].map(
        ([, id]) => `${file}: ${id}`,
      ),
    )
    const gathered = errors.map(({ definition, file }) => `${file}: ${definition.id}`)
    assert.deepEqual(gathered.sort(), defined.sort(), 'a file of errors belongs into errors.ts, and exports each')
  })

  test('the catalogue of errors has each id once, in snake_case', () => {
    const ids = errors.map(({ definition }) => definition.id)
    assert.deepEqual(
      ids.filter((id, index) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(id) || ids.indexOf(id) !== index),
      [],
    )
  })

  test('the catalogue of errors says in one sentence what is wrong and what would be right', () => {
    const sentences = [...errors.map(({ definition }) => definition.text), ...listArgumentSentences()]
    const faults = sentences.flatMap((text) => findFaults(text).map((fault) => `${text} — ${fault}`))
    assert.deepEqual([...new Set(faults)], [])
  })

  test('a sentence that does not is found', () => {
    assert.deepEqual(findFaults('name: it is wrong.'), ['it does not say what would be right'])
    assert.deepEqual(findFaults('name: it must be short'), ['it ends without a full stop'])
    assert.deepEqual(findFaults('The name must be short. Send another.'), ['it is more than one sentence'])
    assert.deepEqual(findFaults('Invalid name; send another.'), ['"invalid" does not say what is wrong'])
    assert.deepEqual(findFaults('The value is null; send another.'), ['"null" says nothing to people'])
    assert.deepEqual(findFaults('oh no; send another.'), ['it starts in another way than the others'])
    assert.deepEqual(findFaults(`name: it must be ${'very '.repeat(60)}short.`), ['it is longer than anybody reads'])
  })

  test('no pattern is shown to a person: where a schema has one, it says in words what it takes', () => {
    for (const text of listArgumentSentences()) assert.doesNotMatch(text, / that matches /)
  })

  test('the catalogue of errors has no other pairs of status and code than those that the page explains', () => {
    const pairs = new Set(errors.map(({ definition }) => keyOf(definition)))
    assert.deepEqual([...pairs].sort(), Object.keys(meanings).sort())
  })

  test('an error says when to try again where it can, and how to authenticate', () => {
    for (const { definition } of errors) {
      const { headers } = make(definition)
      assert.equal('retry-after' in headers, / try again in \{seconds\} s\.$/.test(definition.text), definition.id)
      assert.equal(headers['www-authenticate'], definition.status === 401 ? 'Bearer' : undefined, definition.id)
    }
  })

  test('the page has every error with an anchor, and its sentence', () => {
    const page = writeErrorsPage(errors, vocabulary)
      .replaceAll(/\\([*_|])/g, '$1')
      .replaceAll('&lt;', '<')
      .replaceAll('&amp;', '&')
    for (const { definition } of errors) {
      assert.ok(page.includes(`<a id="${definition.id}"></a>`), definition.id)
      assert.ok(page.includes(` ${definition.text.replaceAll(/\{([a-z]\w*)\}/g, '‹$1›')} `), definition.id)
    }
    for (const meaning of Object.values(meanings)) assert.ok(page.includes(`| ${meaning} |`), meaning)
  })
})

/** An error with something in every placeholder. */
function make(definition: ErrorDefinition): GraphError {
  const names = [...definition.text.matchAll(/\{([a-z]\w*)\}/g)].map(([, name]) => [name, 1])
  return new GraphError(definition, Object.fromEntries(names))
}

describe('an error of the catalogue', () => {
  const tooMany = defineError({
    id: 'too_many',
    status: 429,
    subcode: 7,
    text: 'There are {count} of {kinds} at /{Some-ID}; send {"a": 1} in {seconds} s.',
  })
  const tooFew = defineProblem({ id: 'too_few', text: 'it must have at least {min}.' })

  test('an error of the catalogue is made of its placeholders alone', () => {
    const args = { count: 3, kinds: ['{count}', 'b'], seconds: 0.2 }
    const error = tooMany(args, { headers: { 'x-more': 'yes' }, cause: 'why' })
    assert.equal(error.message, 'There are 3 of {count}, b at /{Some-ID}; send {"a": 1} in 1 s.')
    assert.deepEqual([error.id, error.status, error.code, error.subcode], ['too_many', 429, 4, 7])
    assert.deepEqual(error.args, { ...args, seconds: 1 })
    assert.deepEqual(error.headers, { 'x-more': 'yes', 'retry-after': '1' })
    assert.equal(error.cause, 'why')
    assert.deepEqual(renderError(error, vocabulary, 't', usualForm).body, {
      error: {
        message: error.message,
        type: 'OAuthException',
        code: 4,
        error_subcode: 7,
        is_transient: true,
        svctrace_id: 't',
      },
    })
  })

  test('an error of the catalogue takes no other arguments than its placeholders', () => {
    type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
    type Names<Make extends (...given: never[]) => unknown> = keyof Parameters<Make>[0]
    const typed: [
      Same<Names<typeof tooMany>, 'count' | 'kinds' | 'seconds'>,
      Same<Names<typeof cannotStore>, 'seconds'>,
      Same<Parameters<typeof invalidToken>['length'], 0 | 1>,
      Same<keyof Parameters<typeof tooFew>[1], 'min'>,
    ] = [true, true, true, true]
    assert.ok(typed.every(Boolean))
  })

  test('an error of the catalogue can be a problem of an argument, which knows its place later', () => {
    const problem = tooFew('list', { min: 2 })
    assert.deepEqual([problem.place, problem.problem], ['list', 'it must have at least 2.'])
    const error = badArgument({ ...problem, place: `body.${problem.place}` })
    assert.deepEqual([error.id, error.status, error.code], ['too_few', 400, 100])
    assert.equal(error.message, 'body.list: it must have at least 2.')
    assert.deepEqual(error.args, { argument: 'body.list', min: 2 })
    assert.equal(argumentMissing.text, '{argument}: it is required; send {expected}.')
  })
})
