import { type TObject, type TProperties, Type } from 'typebox'
import type { OpenOperation, Operation, Row as TableRow } from '../../src/graph/operation.ts'
import { chooseVocabulary } from '../../src/graph/vocabulary.ts'
import { fullInput, isOperation, placeholdersOf } from '../../src/http/route-table.ts'
import { buildOperations } from '../../src/operations.ts'
import { pathOf } from '../harness/example-calls.ts'
import { ids, tokens } from '../harness/world.ts'
import { genericBodies, genericQueries } from './generic-bodies.ts'
import { worstInputs } from './worst-inputs.ts'

/** A request that is as bad as the limits of its door allow. */
export interface WorstRequest {
  readonly name: string
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  /** Made anew for each try: what was taken once may be known the next time. */
  readonly makeBody?: (attempt: number) => Buffer
  /** Whether something is delivered because of it, which belongs to it. */
  readonly isDelivered?: boolean
}

/** What most bodies may have. */
export const bodyBytes = 1_048_576
/** What a world file may have. */
const worldBytes = 8_388_608

interface Row {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly token: string
  readonly input: TObject
  readonly example: Readonly<Record<string, unknown>>
  readonly takesBody: boolean
}

/**
 * Every operation of the table with the worst input for each of its members, and one of the bodies that are bad for any row: the
 * table as a whole gets all of them several times.
 */
export function* listTableRequests(callId: string): Generator<WorstRequest> {
  const members = { call_id: callId, phone_number_id: ids.phone_number }
  const table = buildOperations(chooseVocabulary('msgapp')).filter(isAuthenticated)
  const rows = table.map((operation) => toRow(operation, members))
  // What deletes something comes last: behind it there would be less to look at.
  rows.sort((one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'))
  let turn = 0
  for (const row of rows) {
    if (!row.takesBody) {
      for (const { name, query } of genericQueries(row.input)) yield makeQueryRequest(row, name, query)
      continue
    }
    for (const { name, json } of worstInputs(row.input, row.example, bodyBytes)) {
      yield makeRequest(row, name, 'application/json', () => Buffer.from(json))
    }
    const generic = genericBodies[turn++ % genericBodies.length]
    if (generic) yield makeRequest(row, generic.name, generic.type, () => generic.make(bodyBytes))
  }
}

/** One request of each kind: members of the same name are mostly of the same type, and read by the same code in every row. */
export function* sampleTableRequests(callId: string): Generator<WorstRequest> {
  const seen = new Set<string>()
  for (const request of listTableRequests(callId)) {
    const kind = request.name.slice(request.name.indexOf(' ') + 1)
    if (seen.has(kind)) continue
    seen.add(kind)
    yield request
  }
}

/** What anyone may call takes no large body. */
function isAuthenticated(row: TableRow): row is Exclude<Operation, OpenOperation> {
  return isOperation(row) && row.door !== 'open'
}

function toRow(operation: Exclude<Operation, OpenOperation>, placeholders: Readonly<Record<string, string>>): Row {
  const { name, method, body } = operation
  const members = placeholdersOf(operation.path)
  const example = Object.entries(operation.examples.input ?? {}).filter(([member]) => !members.includes(member))
  return {
    name,
    method,
    path: pathOf(operation, ids, undefined, placeholders),
    token: {
      business: tokens.owner,
      token: tokens.owner,
      gateway: tokens.gateway,
      receiver: tokens.gateway,
      operator: tokens.operator,
    }[operation.door],
    input: Type.Object(omit(fullInput(operation).properties, members)),
    example: Object.fromEntries(example),
    takesBody: method !== 'GET' && body !== 'raw' && !operation.file,
  }
}

/** Those that stand in the path are not in the body. */
function omit(properties: TProperties, names: readonly string[]): TProperties {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)))
}

function makeRequest(row: Row, name: string, type: string, makeBody: () => Buffer): WorstRequest {
  const headers = { authorization: `Bearer ${row.token}`, 'content-type': type }
  return { name: `${row.name}: ${name}`, method: row.method, target: row.path, headers, makeBody }
}

function makeQueryRequest(row: Row, name: string, query: string): WorstRequest {
  const headers = { authorization: `Bearer ${row.token}` }
  return { name: `${row.name}: ${name}`, method: row.method, target: `${row.path}?${query}`, headers }
}

/** World files as large as they may be, in both forms: of very many entries, and of very many values that are none. */
export function* listWorlds(): Generator<WorstRequest> {
  const accounts = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      id: String(4_100_000_000_000_000 + index),
      name: `Account ${index} ${'of a large world '.repeat(8)}`,
      business_id: ids.business,
    }))
  const asYaml = (entries: readonly { id: string; name: string; business_id: string }[]) =>
    `accounts:\n${entries.map(({ id, name, business_id }) => `  - id: "${id}"\n    name: ${name}\n    business_id: "${business_id}"\n`).join('')}`
  const worlds = {
    'as JSON': () => JSON.stringify({ accounts: accounts(35_000) }),
    'as YAML': () => asYaml(accounts(34_000)),
    'of nothing but numbers': () => `{"accounts":[${'1,'.repeat(4_100_000)}1]}`,
    'of one long text': () => `{"accounts":"${'a'.repeat(8_000_000)}"}`,
  }
  const headers = { authorization: `Bearer ${tokens.operator}`, 'content-type': 'application/octet-stream' }
  for (const [name, write] of Object.entries(worlds)) {
    const body = Buffer.from(write())
    if (body.length > worldBytes) throw new Error(`${name}: ${body.length} bytes are too many`)
    yield { name: `a world ${name}`, method: 'POST', target: '/operator/world', headers, makeBody: () => body }
  }
}

/** Worlds as large as a reset takes them: as text, and as an object. */
export function* listResets(): Generator<WorstRequest> {
  const business = { id: '2000000000000777', name: 'Of a reset' }
  const app = { id: '3000000000000777', name: 'Of a reset', business_id: business.id, secret: 'secret-of-a-reset' }
  const operator = { token: tokens.operator, app_id: app.id, scopes: ['operator'] }
  const makeWorld = (count: number) => ({
    businesses: [business],
    apps: [app],
    tokens: [operator],
    accounts: Array.from({ length: count }, (_, index) => ({
      id: String(4_000_000_000_000_000 + index),
      name: `Account ${index}`,
      business_id: business.id,
    })),
  })
  const headers = { authorization: `Bearer ${tokens.operator}`, 'content-type': 'application/json' }
  const worlds = { text: JSON.stringify(makeWorld(6000)), object: makeWorld(2400) }
  for (const [name, world] of Object.entries(worlds)) {
    const makeBody = () => Buffer.from(JSON.stringify({ world }))
    yield { name: `a reset: ${name}`, method: 'POST', target: '/operator/reset', headers, makeBody }
  }
}
