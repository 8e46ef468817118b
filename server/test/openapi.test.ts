import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { writePermission } from '../src/auth/scopes.ts'
import { defineRead, defineWrite } from '../src/graph/define.ts'
import { errorStatuses } from '../src/graph/graph-error.ts'
import type { NewOperation, OpenRow, Operation, Row } from '../src/graph/operation.ts'
import { serveVersions } from '../src/graph/versions.ts'
import { chooseVocabulary, vocabularyNames } from '../src/graph/vocabulary.ts'
import type { OpenApiDocument, OperationObject, Response } from '../src/http/openapi/document.ts'
import { type DocumentName, doorOf } from '../src/http/openapi/doors.ts'
import { buildOpenApi } from '../src/http/openapi/openapi.ts'
import { fullInput, isOperation, nodeKindOf, placeholdersOf } from '../src/http/route-table.ts'
import { buildOperations, chapters } from '../src/operations.ts'
import { makeEnvelopeCheck } from '../src/resources/webhooks/inbound/envelope.ts'
import { describeEnvelope } from '../src/resources/webhooks/inbound/envelope-schemas.ts'
import { businessRows } from './harness/example-calls.ts'

const vocabulary = chooseVocabulary('msgapp')

function build(operations: readonly Row[], spoken = vocabulary, document: DocumentName = 'business'): OpenApiDocument {
  return buildOpenApi({
    operations,
    document,
    vocabulary: spoken,
    versions: serveVersions(['v22.0', 'v23.0'], false),
    serverUrl: 'http://127.0.0.1:8080',
    packageVersion: '1.2.3',
  })
}

/** Everything of the recommended rules, warnings included. */
async function lint(document: OpenApiDocument): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // No licence has been granted, so there is none to name.
      'info-license': 'off',
      // A tag is a chapter: its title says what it is, and its operations what it holds.
      'tag-description': 'off',
      // Beyond the recommended: what these find would break generators of clients.
      'no-identical-paths': 'error',
      'no-ambiguous-paths': 'error',
      'operation-operationId-unique': 'error',
      'no-invalid-media-type-examples': 'error',
      'no-invalid-parameter-examples': 'error',
      'no-unused-components': 'error',
    },
  })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`)
}

type Described = {
  readonly description?: string
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Described>>
  readonly items?: Described
  readonly anyOf?: readonly Described[]
}

/** What happened, inside an event: the specification of the field describes it. */
const eventContents = /^receiver\.post\.entry\.changes\.value\.\w+$/

/** The members of a schema, at any depth, that nothing is said of. */
function findUndescribed(document: OpenApiDocument, given: Described, place: string): string[] {
  if (eventContents.test(place)) return []
  const resolve = (one: Described): Described => {
    if (one.$ref === undefined) return one
    const [, ...way] = one.$ref.split('/')
    return way.reduce<unknown>((from, name) => (from as Record<string, unknown>)[name], document) as Described
  }
  const schema = resolve(given)
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const own = `${place}.${name}`
    const isDescribed = (member.description ?? resolve(member).description ?? '') !== ''
    return [...(isDescribed ? [] : [own]), ...findUndescribed(document, member, own)]
  })
  const inner = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]
  return [...members, ...inner.flatMap((one) => findUndescribed(document, one, place))]
}

test('every parameter and every member of a body has a description, at every door', () => {
  const table = buildOperations(vocabulary)
  for (const name of ['business', 'gateway', 'operator'] as const) {
    const document = build(table, vocabulary, name)
    const undescribed = operationsOf(document).flatMap(({ operationId, parameters = [], requestBody }) => [
      ...parameters
        .map((one) => ('$ref' in one ? { name: one.$ref, description: 'shared' } : one))
        .filter(({ description }) => (description ?? '') === '')
        .map((one) => `${operationId} ${one.name}`),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
        findUndescribed(document, schema as Described, operationId),
      ),
    ])
    assert.deepEqual(undescribed, [])
  }
})

function operationsOf(document: OpenApiDocument): OperationObject[] {
  return Object.values(document.paths).flatMap((item) => Object.values(item))
}

function findOperation(document: OpenApiDocument, rowName: string): OperationObject {
  const found = operationsOf(document).filter((one) => one['x-operations'].some(({ name }) => name === rowName))
  assert.equal(found.length, 1, `${rowName} is described once`)
  return found[0] as OperationObject
}

function successOf(operation: OperationObject) {
  return (operation.responses['200'] as Response).content['application/json']
}

function isParameter(row: Operation, member: string): boolean {
  return row.method === 'GET' || placeholdersOf(row.path).includes(member) || (row.headers ?? []).includes(member)
}

function inChapter(chapter: string, row: NewOperation): Operation {
  return { ...row, chapter }
}

/** Rows of every form that the table may hold. */
const output = Type.Object({ success: Type.Boolean() })
const examples = { output: { success: true } }
const run = async () => ({ success: true })
const variedRows: Operation[] = [
  inChapter(
    'account',
    defineRead({
      name: 'account.read',
      method: 'GET',
      path: '/{Version}/{Account-ID}',
      sentence: 'Reads an account.',
      permission: 'management',
      fields: { available: ['id', 'name'], defaults: ['id'], mode: 'replace' },
      input: Type.Object({ tags: Type.Optional(Type.Array(Type.String(), { description: 'Some tags.' })) }),
      output,
      examples: { input: { fields: 'name', tags: ['a'] }, output: examples.output },
      run,
    }),
  ),
  inChapter(
    'bot',
    defineRead({
      name: 'bot.read',
      method: 'GET',
      path: '/{Version}/{Bot-ID}',
      sentence: 'Reads a bot.',
      permission: 'either',
      fields: { available: ['id', 'prompts'], defaults: ['prompts'], mode: 'add' },
      input: Type.Object({}),
      output: Type.Object({ prompts: Type.Array(Type.String()) }),
      examples: { output: { prompts: ['Hello'] } },
      run,
    }),
  ),
  inChapter(
    'account',
    defineWrite({
      name: 'account.update',
      method: 'POST',
      path: '/{Version}/{Account-ID}',
      sentence: 'Changes an account.',
      permission: 'management',
      rateClass: 'number_creation',
      input: Type.Object({ name: Type.String(), days: Type.Array(Type.Enum(['MONDAY', 'TUESDAY'])) }),
      output,
      examples: { ...examples, input: { name: 'Shrub', days: ['MONDAY'] } },
      run,
    }),
  ),
  inChapter(
    'bot',
    defineWrite({
      name: 'bot.update',
      method: 'POST',
      path: '/{Version}/{Bot-ID}',
      sentence: 'Changes a bot.',
      permission: 'messaging',
      input: Type.Object({ welcome: Type.Optional(Type.Boolean()) }),
      output,
      examples: { ...examples, input: { welcome: true } },
      run,
    }),
  ),
  inChapter(
    'phone-numbers',
    defineWrite({
      name: 'phone_numbers.create_group',
      method: 'POST',
      path: '/{Version}/{Phone-Number-ID}/groups',
      sentence: 'Creates a group.',
      permission: 'messaging',
      briefErrors: true,
      errors: [400, 401, 500],
      input: Type.Object({
        code: Type.Optional(Type.String({ pattern: '^\\d{6}$', 'x-expects': '6 digits' })),
      }),
      output,
      examples,
      run,
    }),
  ),
  inChapter(
    'phone-numbers',
    defineWrite({
      name: 'phone_numbers.deregister',
      method: 'POST',
      path: '/{Version}/{Phone-Number-ID}/deregister',
      sentence: 'Deregisters a number.',
      permission: 'management',
      input: Type.Object({}),
      output,
      examples,
      run,
    }),
  ),
  inChapter(
    'phone-numbers',
    defineWrite({
      name: 'phone_numbers.delete_code',
      method: 'DELETE',
      path: '/{Version}/{Phone-Number-ID}/message_qrdls/{QR-Code-ID}',
      sentence: 'Deletes a code.',
      permission: 'management',
      input: Type.Object({ 'QR-Code-ID': Type.String({ pattern: '^[A-Z0-9]{14}$', description: '14 characters.' }) }),
      output,
      examples: { ...examples, input: { 'QR-Code-ID': 'ABCDEFGHIJKLMN' } },
      run,
    }),
  ),
]

describe('the OpenAPI document of the table', () => {
  for (const name of vocabularyNames) {
    const vocabulary = chooseVocabulary(name)
    const operations = businessRows(vocabulary)
    const document = build(operations, vocabulary)

    test(`${name}: is valid`, async () => {
      assert.deepEqual(await lint(document), [])
    })

    test(`${name}: holds every row once, with its sentence, permission and place`, () => {
      for (const row of operations) {
        const described = findOperation(document, row.name)
        const summary = described['x-operations'].find((one) => one.name === row.name)
        assert.deepEqual(summary, {
          name: row.name,
          node: nodeKindOf(row),
          sentence: row.sentence,
          permission: writePermission(row.permission, vocabulary),
          rate_class: row.rateClass ?? null,
        })
        assert.ok(described.tags.includes(row.chapter))
        const told = `${described.summary}. ${described.description}`
        assert.ok(told.includes(row.sentence), `the words of ${row.name} tell its sentence`)
        for (const scope of writePermission(row.permission, vocabulary)) assert.ok(told.includes(scope))
        if (row.rateClass) assert.ok(told.includes(`\`${row.rateClass}\``))
      }
      const described = operationsOf(document).flatMap((one) => one['x-operations'])
      assert.equal(described.length, operations.length)
    })

    test(`${name}: every row has its examples and its error statuses`, () => {
      for (const row of operations) {
        const described = findOperation(document, row.name)
        assert.deepEqual(successOf(described)?.examples?.[row.name]?.value, row.examples.output)
        for (const status of row.errors ?? errorStatuses) {
          const isTold = status !== 422 || name === 'msgapp'
          assert.equal(described.responses[status] !== undefined, isTold, `${row.name} and ${status}`)
        }
        for (const [member, value] of Object.entries(row.examples.input ?? {})) {
          if (isParameter(row, member)) {
            const parameter = described.parameters.find((one) => 'name' in one && one.name === member)
            assert.ok(parameter && 'name' in parameter, `${row.name} has the parameter ${member}`)
            const shown = (parameter.content?.['application/json'] ?? parameter).examples
            assert.deepEqual(shown?.[row.name]?.value, value)
          } else {
            const shown = described.requestBody?.content['application/json']?.examples?.[row.name]?.value
            assert.deepEqual((shown as Record<string, unknown>)[member], value)
          }
        }
      }
    })

    test(`${name}: every example satisfies the schema of its row`, () => {
      for (const row of operations) {
        assertFits(row.output, row.examples.output, `${row.name}, output`)
        if (row.examples.input) assertFits(fullInput(row), row.examples.input, `${row.name}, input`)
      }
    })

    test(`${name}: the errors come in that vocabulary's envelope`, () => {
      for (const [component, { content, headers }] of Object.entries(document.components.responses)) {
        assert.ok(headers[vocabulary.trace_header], `${component} has the trace in its header`)
        for (const { value } of Object.values(content['application/json']?.examples ?? {})) {
          const hasTrace = Object.hasOwn((value as { error: object }).error, vocabulary.trace_member)
          assert.equal(hasTrace, !component.startsWith('Brief'))
        }
      }
    })
  }

  test('whatsapp: holds none of the other names', () => {
    const vocabulary = chooseVocabulary('whatsapp')
    const text = JSON.stringify(build(buildOperations(vocabulary), vocabulary))
    assert.deepEqual(text.match(/\w*(msgapp|svctrace)\w*/gi) ?? [], [])
    assert.match(text, /whatsapp_business_management/)
    assert.match(text, /fbtrace_id/)
  })

  test('msgapp: holds none of the other names but the two that are the same in both', () => {
    const text = JSON.stringify(build(buildOperations(vocabulary)))
    const names = new Set(text.match(/\w*(whatsapp|fbtrace)\w*/gi) ?? [])
    names.delete('whatsapp_business_account_id')
    names.delete('whatsapp_business_api_data')
    assert.deepEqual([...names], [])
  })

  test('the OpenAPI document of the table is the same each time', () => {
    assert.deepEqual(build(buildOperations(vocabulary)), build(buildOperations(vocabulary)))
  })
})

describe('an OpenAPI document of rows of every form', () => {
  const document = build(variedRows)

  test('an OpenAPI document of rows of every form is valid', async () => {
    assert.deepEqual(await lint(document), [])
  })

  test('an OpenAPI document of rows of every form keeps the placeholders of the specification where one kind of node has the path', () => {
    assert.deepEqual(Object.keys(document.paths), [
      '/{Version}/{Node-ID}',
      '/{Version}/{Phone-Number-ID}/groups',
      '/{Version}/{Phone-Number-ID}/deregister',
      '/{Version}/{Phone-Number-ID}/message_qrdls/{QR-Code-ID}',
    ])
  })

  test('an OpenAPI document of rows of every form merges rows that differ in the kind of node alone into one operation for each method', () => {
    const { get, post } = document.paths['/{Version}/{Node-ID}'] ?? {}
    assert.equal(get?.operationId, 'node.get')
    assert.deepEqual(get?.tags, ['account', 'bot'])
    assert.deepEqual(successOf(get as OperationObject)?.schema, {
      anyOf: [{ $ref: '#/components/schemas/AccountReadOutput' }, { $ref: '#/components/schemas/BotReadOutput' }],
    })
    assert.equal(document.components.schemas['BotReadOutput']?.['title'], 'bot.read')
    assert.deepEqual(post?.requestBody?.content['application/json']?.schema, {
      anyOf: [{ $ref: '#/components/schemas/AccountUpdateInput' }, { $ref: '#/components/schemas/BotUpdateInput' }],
    })
    assert.equal(post?.requestBody?.required, false, 'not every row needs a body')
    assert.match(post?.description ?? '', /`{Account-ID}`.*Changes an account\..*`number_creation` \(100\/1h/)
  })

  test('an OpenAPI document of rows of every form tells the fields of each kind of node', () => {
    const parameters = document.paths['/{Version}/{Node-ID}']?.get?.parameters ?? []
    const fields = parameters.find((one) => 'name' in one && one.name === 'fields')
    assert.ok(fields && 'description' in fields)
    assert.equal(
      fields.description,
      'Names of the fields to return, separated by commas:\n\n- account: id, name. Instead of the defaults id.\n- bot: id, prompts. Added to the defaults prompts.',
    )
  })

  test('an OpenAPI document of rows of every form gives single rows their own name', () => {
    const names = operationsOf(document).map(({ operationId }) => operationId)
    assert.deepEqual(names, [
      'node.get',
      'node.post',
      'phone_numbers.create_group',
      'phone_numbers.deregister',
      'phone_numbers.delete_code',
    ])
  })

  test('an OpenAPI document of rows of every form describes a structured argument as JSON text in a query and in forms', () => {
    const parameters = document.paths['/{Version}/{Node-ID}']?.get?.parameters ?? []
    const tags = parameters.find((one) => 'name' in one && one.name === 'tags')
    assert.ok(tags && 'content' in tags)
    assert.deepEqual(tags.content?.['application/json']?.schema, { type: 'array', items: { type: 'string' } })
    const form = document.components.schemas['AccountUpdateForm'] as { properties: Record<string, unknown> }
    assert.deepEqual(form.properties['days'], {
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: { type: 'array', items: { type: 'string', enum: ['MONDAY', 'TUESDAY'] } },
    })
    const body = document.paths['/{Version}/{Node-ID}']?.post?.requestBody?.content ?? {}
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data']) {
      assert.deepEqual(body[type]?.examples?.['account.update']?.value, { name: 'Shrub', days: '["MONDAY"]' })
    }
  })

  test('an OpenAPI document of rows of every form leaves the body out where no argument is taken', () => {
    assert.equal(document.paths['/{Version}/{Phone-Number-ID}/deregister']?.post?.requestBody, undefined)
    const path = document.paths['/{Version}/{Phone-Number-ID}/message_qrdls/{QR-Code-ID}']
    assert.equal(path?.delete?.requestBody, undefined)
    assert.deepEqual(path?.delete?.parameters.at(-1), {
      name: 'QR-Code-ID',
      in: 'path',
      required: true,
      description: '14 characters.',
      schema: { type: 'string', pattern: '^[A-Z0-9]{14}$' },
      examples: { 'phone_numbers.delete_code': { value: 'ABCDEFGHIJKLMN' } },
    })
  })

  test('an OpenAPI document of rows of every form tells the errors that a row names, in the brief envelope where it has it', () => {
    const { responses } = findOperation(document, 'phone_numbers.create_group')
    assert.deepEqual(Object.keys(responses), ['200', '400', '401', '500'])
    assert.deepEqual(responses['400'], { $ref: '#/components/responses/BriefBadRequest' })
    const { content } = document.components.responses['BriefBadRequest'] as Response
    const shown = content['application/json']?.examples?.['argument']?.value as { error: object }
    assert.deepEqual(Object.keys(shown.error), ['message', 'type', 'code'])
  })

  test('an OpenAPI document of rows of every form says what a pattern means, in words', () => {
    const input = document.components.schemas['PhoneNumbersCreateGroupInput'] as { properties: Record<string, unknown> }
    assert.deepEqual(input.properties['code'], {
      type: 'string',
      pattern: '^\\d{6}$',
      description: 'It must be 6 digits.',
    })
  })

  test('an OpenAPI document of rows of every form names the versions that are served, and the tags in the order of the specification', () => {
    assert.deepEqual(document.components.parameters['Version']?.schema, { type: 'string', enum: ['v22.0', 'v23.0'] })
    assert.deepEqual(
      document.tags,
      chapters
        .filter(({ name }) => ['account', 'phone-numbers', 'bot'].includes(name))
        .map(({ name, title }) => ({ name, 'x-displayName': title })),
    )
  })

  test('an OpenAPI document of rows of every form tells the headers of an answer', () => {
    const headersOf = (name: string) => Object.keys(document.components.responses[name]?.headers ?? {})
    assert.deepEqual(headersOf('Unauthorized'), ['x-svctrace-id', 'WWW-Authenticate'])
    assert.deepEqual(headersOf('TooManyRequests'), ['x-svctrace-id', 'Retry-After'])
    assert.deepEqual(headersOf('Unprocessable'), ['x-svctrace-id', 'X-App-Usage', 'X-Business-Use-Case-Usage'])
  })

  test('a limit that is set differently is told as it is set', () => {
    const platform = [{ count: 7, milliseconds: 60_000 }]
    const other = buildOpenApi({
      operations: variedRows,
      vocabulary,
      versions: serveVersions(undefined, false),
      rates: { platform } as never,
      serverUrl: 'https://api.example.com/graph',
      packageVersion: '1.2.3',
    })
    assert.match(findOperation(other, 'phone_numbers.deregister').description, /`platform` \(7\/1m;/)
    assert.deepEqual(other.servers, [{ url: 'https://api.example.com/graph' }])
  })
})

describe('an OpenAPI document of a row whose body is bytes', () => {
  const rawRow = inChapter(
    'uploads',
    defineWrite({
      name: 'uploads.append',
      method: 'POST',
      path: '/{Version}/{Upload-ID}',
      sentence: 'Takes bytes.',
      permission: 'management',
      body: 'raw',
      headers: ['file_offset'],
      input: Type.Object({ file_offset: Type.Integer({ description: 'Where they go on.' }) }),
      output,
      examples: { ...examples, input: { file_offset: 0 } },
      run,
    }),
  )

  test('an OpenAPI document of a row whose body is bytes has them as the only content, and its arguments as headers', async () => {
    const document = build([rawRow])
    assert.deepEqual(await lint(document), [])
    const { post } = document.paths['/{Version}/{Upload-ID}'] ?? {}
    assert.deepEqual(Object.keys(post?.requestBody?.content ?? {}), ['application/octet-stream'])
    assert.deepEqual(post?.parameters.at(-1), {
      name: 'file_offset',
      in: 'header',
      required: true,
      description: 'Where they go on.',
      schema: { type: 'integer' },
      examples: { 'uploads.append': { value: 0 } },
    })
    assert.equal(document.components.parameters['Upload-ID']?.schema?.['pattern'], '^upload:[\\w-]+$')
    assert.equal(document.components.schemas['UploadsAppendInput'], undefined)
  })

  test('an OpenAPI document of a row whose body is bytes has them beside the arguments of rows that share its path', async () => {
    const document = build([...variedRows, rawRow])
    assert.deepEqual(await lint(document), [])
    const { post } = document.paths['/{Version}/{Node-ID}'] ?? {}
    assert.deepEqual(Object.keys(post?.requestBody?.content ?? {}), [
      'application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/octet-stream',
    ])
    assert.match(post?.requestBody?.description ?? '', /For an upload, the body is bytes/)
    const offset = post?.parameters.find((one) => 'name' in one && one.name === 'file_offset')
    assert.ok(offset && 'in' in offset && offset.required === undefined, 'the other rows do without it')
  })
})

function assertFits(schema: TSchema, value: unknown, what: string): void {
  const validator = Compile(schema)
  assert.deepEqual(validator.Check(value) ? [] : [...validator.Errors(value)], [], what)
}

describe("the gateway's own document", () => {
  for (const name of vocabularyNames) {
    const vocabulary = chooseVocabulary(name)
    const table = buildOperations(vocabulary)
    const document = build(table, vocabulary, 'gateway')

    test(`the gateway's own document is valid (${name})`, async () => {
      assert.deepEqual(await lint(document), [])
    })

    test(`the gateway's own document describes every operation with its sentence, its example and its errors (${name})`, () => {
      for (const row of table.filter(({ door }) => door === 'gateway')) {
        const described = findOperation(document, row.name)
        assert.equal(`${described.summary}.`, row.sentence)
        const waited = row.waits ? ['408'] : []
        const statuses = ['200', '400', '401', '403', '404', ...waited, '422', '429', '500']
        assert.deepEqual(Object.keys(described.responses), statuses)
        assert.deepEqual(successOf(described)?.examples?.[row.name]?.value, row.examples.output)
      }
    })

    test(`the gateway's own document describes what anyone may open, without a proof (${name})`, () => {
      const open = table.filter((row) => row.door === 'open' && doorOf(row).document === 'gateway') as OpenRow[]
      assert.ok(open.length > 5)
      for (const row of open) {
        const described = findOperation(document, row.name)
        assert.equal(`${described.summary}.`, row.sentence)
        assert.deepEqual(described.security, [])
        assert.deepEqual(Object.keys((described.responses['200'] as Response).content), Object.keys(row.content))
      }
    })
  }

  test("the gateway's own document describes the receiver of events with both proofs, and an example that its check takes", () => {
    const document = build(buildOperations(vocabulary), vocabulary, 'gateway')
    const { get, post } = document.paths['/msgapp/webhooks'] ?? {}
    assert.deepEqual(get?.security, [])
    assert.deepEqual(Object.keys(get?.responses ?? {}), ['200', '400', '403', '429', '500'])
    assert.deepEqual(post?.security, [{ bearer: [] }, { hub_signature: [] }])
    assert.deepEqual(Object.keys(post?.responses ?? {}), ['200', '400', '401', '403', '404', '429', '500'])
    const example = post?.requestBody?.content['application/json']?.examples?.['receiver.post']?.value
    const check: (body: unknown) => void = makeEnvelopeCheck(vocabulary)
    check(example)
    assertFits(describeEnvelope(vocabulary), example, 'the example of the receiver')
  })

  test("the gateway's own document has examples that its own schemas take", () => {
    for (const row of buildOperations(vocabulary).filter(isOperation)) {
      assert.deepEqual(Compile(row.output).Errors(row.examples.output), [], row.name)
      assert.deepEqual(Compile(row.input).Errors(row.examples.input ?? {}), [], row.name)
    }
  })
})
