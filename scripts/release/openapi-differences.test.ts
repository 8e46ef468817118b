import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { parseChangelog } from './changelog.ts'
import { compareAll, documentNames, findUnnamed, writeDifferences } from './openapi-check.ts'
import { compareDocuments, type OpenApiDocument } from './openapi-differences.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests damage any place of it
type Damaged = any

function makeDocument(): Damaged {
  return {
    info: { version: '0.2.0' },
    paths: {
      '/things': {
        get: {
          operationId: 'things.list',
          parameters: [
            { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100 } },
            { name: 'order', in: 'query', schema: { type: 'string', enum: ['asc', 'desc'] } },
          ],
          responses: {
            200: {
              headers: { 'x-trace': {} },
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Things' } } },
            },
            404: { $ref: '#/components/responses/NotFound' },
          },
        },
        post: {
          operationId: 'things.create',
          requestBody: {
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/NewThing' } },
              'multipart/form-data': { schema: { type: 'object' } },
            },
          },
          responses: { 201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } } },
        },
      },
      '/{Node-ID}': {
        get: {
          operationId: 'node.get',
          'x-operations': [{ name: 'things.read' }, { name: 'users.read' }],
          responses: {
            200: {
              content: {
                'application/json': {
                  schema: { anyOf: [{ $ref: '#/components/schemas/Thing' }, { $ref: '#/components/schemas/User' }] },
                },
              },
            },
          },
        },
      },
    },
    components: {
      responses: { NotFound: { content: {} } },
      schemas: {
        Things: {
          type: 'object',
          required: ['data'],
          properties: { data: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } },
        },
        Thing: {
          title: 'things.read',
          type: 'object',
          required: ['id'],
          properties: {
            id: { type: 'string' },
            state: { type: 'string', enum: ['NEW', 'OLD'] },
            note: { type: 'string' },
          },
        },
        User: { title: 'users.read', type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
        NewThing: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { type: 'string', maxLength: 100 },
            kind: { type: 'string', enum: ['a', 'b'] },
            count: { type: ['integer', 'null'], minimum: 0 },
            code: { type: 'string' },
            tags: { type: 'array', items: { type: 'string', maxLength: 20 }, maxItems: 10 },
            target: { anyOf: [{ type: 'string' }, { type: 'object', properties: { id: { type: 'string' } } }] },
          },
        },
      },
    },
  }
}

function compare(damage: (document: Damaged) => void): string[] {
  const after = makeDocument()
  damage(after)
  return compareDocuments(makeDocument(), after).map(
    ({ breaking, operation, text }) => `${breaking ? 'BREAKING ' : ''}${operation} ${text}`,
  )
}

const input = (document: Damaged) => document.components.schemas.NewThing
const output = (document: Damaged) => document.components.schemas.Thing
const list = (document: Damaged) => document.paths['/things'].get
const create = (document: Damaged) => document.paths['/things'].post

describe('breaks callers', () => {
  const damages: [what: string, damage: (document: Damaged) => void, expected: string][] = [
    ['a path that is gone', (d) => delete d.paths['/things'], 'things.list is gone'],
    ['an operation that is gone', (d) => delete d.paths['/things'].post, 'things.create is gone'],
    [
      'an operation that is gone from a shared path',
      (d) => d.paths['/{Node-ID}'].get['x-operations'].pop(),
      'users.read is gone',
    ],
    ['a parameter that is gone', (d) => list(d).parameters.pop(), 'things.list parameter `order` is no longer known'],
    [
      'a parameter that is required',
      (d) => (list(d).parameters[0].required = true),
      'things.list parameter `limit` is required',
    ],
    [
      'a new parameter that is required',
      (d) => list(d).parameters.push({ name: 'q', in: 'query', required: true }),
      'things.list parameter `q` is new and required',
    ],
    [
      'a smaller limit of a parameter',
      (d) => (list(d).parameters[0].schema.maximum = 50),
      'things.list request `limit` maximum is 50, was 100',
    ],
    [
      'a larger least value',
      (d) => (list(d).parameters[0].schema.minimum = 2),
      'things.list request `limit` minimum is 2, was 1',
    ],
    [
      'a value of a parameter that is gone',
      (d) => list(d).parameters[1].schema.enum.pop(),
      'things.list request `order` no longer accepts "desc"',
    ],
    ['a body that is required', (d) => (create(d).requestBody.required = true), 'things.create requires a body'],
    ['a body that is gone', (d) => delete create(d).requestBody, 'things.create takes no body'],
    [
      'a type of body that is gone',
      (d) => delete create(d).requestBody.content['multipart/form-data'],
      'things.create request is no longer multipart/form-data',
    ],
    [
      'a member of a request that is required',
      (d) => input(d).required.push('kind'),
      'things.create request `kind` is required',
    ],
    [
      'a new member of a request that is required',
      (d) => {
        input(d).properties.size = { type: 'string' }
        input(d).required.push('size')
      },
      'things.create request `size` is required',
    ],
    [
      'a member of a request that is gone',
      (d) => delete input(d).properties.code,
      'things.create request `code` is no longer known',
    ],
    [
      'a member of a request that is refused',
      (d) => (input(d).properties.code['x-refused'] = true),
      'things.create request `code` is refused',
    ],
    [
      'a narrower type',
      (d) => (input(d).properties.count.type = 'integer'),
      'things.create request `count` is no longer accepted as null',
    ],
    [
      'another type',
      (d) => (input(d).properties.code.type = 'number'),
      'things.create request `code` is no longer accepted as string',
    ],
    [
      'a value that is no longer accepted',
      (d) => input(d).properties.kind.enum.pop(),
      'things.create request `kind` no longer accepts "b"',
    ],
    [
      'a list of values where there was none',
      (d) => (input(d).properties.code.enum = ['x']),
      'things.create request `code` accepts only "x"',
    ],
    [
      'a shorter text',
      (d) => (input(d).properties.name.maxLength = 99),
      'things.create request `name` maxLength is 99, was 100',
    ],
    [
      'a limit where there was none',
      (d) => (input(d).properties.code.maxLength = 9),
      'things.create request `code` maxLength is 9',
    ],
    [
      'a least length',
      (d) => (input(d).properties.code.minLength = 1),
      'things.create request `code` minLength is 1, was 0',
    ],
    [
      'fewer items',
      (d) => (input(d).properties.tags.maxItems = 5),
      'things.create request `tags` maxItems is 5, was 10',
    ],
    [
      'shorter items',
      (d) => (input(d).properties.tags.items.maxLength = 5),
      'things.create request `tags[]` maxLength is 5, was 20',
    ],
    [
      'items that must differ',
      (d) => (input(d).properties.tags.uniqueItems = true),
      'things.create request `tags` items must differ',
    ],
    [
      'another pattern',
      (d) => (input(d).properties.code.pattern = '^x$'),
      'things.create request `code` pattern is ^x$',
    ],
    [
      'no other members',
      (d) => (input(d).additionalProperties = false),
      'things.create request accepts no other members',
    ],
    [
      'a variant that is gone',
      (d) => input(d).properties.target.anyOf.pop(),
      'things.create request `target` is no longer accepted as object',
    ],
    [
      'another status',
      (d) => (create(d).responses = { 200: create(d).responses[201] }),
      'things.create responds no longer with 201',
    ],
    [
      'a header that is gone',
      (d) => delete list(d).responses[200].headers['x-trace'],
      'things.list response 200 has no header `x-trace`',
    ],
    [
      'a type of response that is gone',
      (d) => {
        list(d).responses[200].content = { 'text/csv': {} }
      },
      'things.list response is no longer application/json',
    ],
    [
      'a member of a response that is gone',
      (d) => delete output(d).properties.note,
      'things.read response `note` is gone',
    ],
    [
      'a member gone from the items of a response',
      (d) => delete output(d).properties.note,
      'things.list response `data[].note` is gone',
    ],
    [
      'a member of a response that may be missing',
      (d) => (output(d).required = []),
      'things.read response `id` may be missing',
    ],
    [
      'a member of a response that may be null',
      (d) => (output(d).properties.id.type = ['string', 'null']),
      'things.read response `id` may now be null',
    ],
    [
      'a member of a response of any type',
      (d) => delete output(d).properties.note.type,
      'things.read response `note` may now be any type',
    ],
    [
      'values of a response that are all others',
      (d) => (output(d).properties.state.enum = ['FRESH']),
      'things.read response `state` is "FRESH", and no longer "NEW", "OLD"',
    ],
    [
      'a member gone from one of the shared responses',
      (d) => delete d.components.schemas.User.properties.name,
      'users.read response `name` is gone',
    ],
  ]
  for (const [what, damage, expected] of damages) {
    it(what, () => {
      const found = compare(damage)
      assert.ok(found.includes(`BREAKING ${expected}`), found.join('\n') || 'nothing was found')
    })
  }
})

describe('breaks nobody', () => {
  const changes: [what: string, change: (document: Damaged) => void, expected: string[]][] = [
    ['nothing', () => {}, []],
    ['other words', (d) => (output(d).description = 'A thing.'), []],
    [
      'a new operation',
      (d) => (d.paths['/other'] = { get: { operationId: 'other.list', responses: {} } }),
      ['other.list is new'],
    ],
    [
      'a new parameter',
      (d) => list(d).parameters.push({ name: 'q', in: 'query' }),
      ['things.list parameter `q` is new'],
    ],
    [
      'a new member of a request',
      (d) => (input(d).properties.size = { type: 'string' }),
      ['things.create request `size` is new'],
    ],
    ['a new value', (d) => input(d).properties.kind.enum.push('c'), ['things.create request `kind` accepts "c"']],
    [
      'a larger limit',
      (d) => (input(d).properties.name.maxLength = 200),
      ['things.create request `name` maxLength is 200, was 100'],
    ],
    ['a limit that is gone', (d) => delete input(d).properties.name.maxLength, []],
    ['a wider type', (d) => (input(d).properties.code.type = ['string', 'null']), []],
    ['a number where a whole one was taken', (d) => (input(d).properties.count.type = ['number', 'null']), []],
    ['a member of a request that is no longer required', (d) => (input(d).required = []), []],
    ['an error that is gone', (d) => delete list(d).responses[404], ['things.list responds no longer with 404']],
    ['a new error', (d) => (list(d).responses[409] = {}), ['things.list may respond with 409']],
  ]
  for (const [what, change, expected] of changes) it(what, () => assert.deepEqual(compare(change), expected))

  it('a new member and a new value of a response, named wherever the response is', () => {
    const found = compare((d) => {
      output(d).properties.size = { type: 'integer' }
      output(d).properties.state.enum.push('LOST')
    })
    assert.deepEqual(
      [...new Set(found)],
      [
        'things.list response `data[].state` may be "LOST"',
        'things.list response `data[].size` is new',
        'things.read response `state` may be "LOST"',
        'things.read response `size` is new',
      ],
    )
  })
})

describe('a breaking difference', () => {
  const changes = compareDocuments(makeDocument(), { paths: {} }).filter(({ operation }) => operation === 'things.list')
  const name = (part: string, kind: string, text: string) =>
    parseChangelog(`## 1.0.0 (Unreleased)\n\n### ${part}\n\n#### ${kind}\n\n- ${text}\n`).releases[0]

  it('is named by its operation or its address, under Server and Breaking alone', () => {
    assert.equal(changes.length, 1)
    assert.deepEqual(findUnnamed(changes, name('Server', 'Breaking', '`things.list` is gone.')), [])
    assert.deepEqual(findUnnamed(changes, name('Server', 'Breaking', '`GET /things` is gone.')), [])
    for (const release of [
      name('Server', 'Breaking', 'things.list is gone.'),
      name('Server', 'Breaking', '`things.create` is gone.'),
      name('Server', 'Changed', '`things.list` is gone.'),
      name('Client', 'Breaking', '`things.list` is gone.'),
      undefined,
    ]) {
      assert.deepEqual(findUnnamed(changes, release), changes)
    }
  })

  it('comes first on the page of differences', () => {
    assert.equal(
      writeDifferences(changes, '0.9.0'),
      '# The API since 0.9.0\n\n## Breaking\n\n- `things.list` (`GET /things`): is gone\n\n## Other\n\nNone.\n',
    )
  })
})

it('the documents of this project are read whole', () => {
  const documents: Record<string, OpenApiDocument> = Object.fromEntries(
    documentNames.map((name) => [
      name,
      JSON.parse(readFileSync(new URL(`../../openapi/${name}.json`, import.meta.url), 'utf8')),
    ]),
  )
  assert.deepEqual(compareAll(documents, documents), [])
  const gone = compareAll(documents, {})
  assert.ok(gone.every(({ breaking }) => breaking))
  assert.ok(gone.length > 150, String(gone.length))
})
