import type { VocabularyName } from '../../../server/src/graph/vocabulary.ts'
import { isLink, toCamelCase } from '../../../server/src/http/openapi/client-methods.ts'
import { writeTypeName } from '../../../server/src/http/openapi/schemas.ts'
import { type Declarations, parameter } from './declarations.ts'
import { declareMethod, findItems } from './declare-methods.ts'
import type { Method } from './describe-methods.ts'
import { listWords, writeComment, writeLiteral, writeValue } from './write-type.ts'

/** A method of the client, in the vocabularies that have it. */
export interface OfferedMethod extends Method {
  /** The vocabulary that alone has it. */
  readonly onlyIn?: VocabularyName
}

/** The module of one group: its rows, types and functions, and the classes that bind them to a client. */
export function writeGroup(
  group: string,
  methods: readonly OfferedMethod[],
  declarations: Declarations,
  shared: readonly string[],
): string {
  const rows = [...Map.groupBy(methods, ({ row }) => row.name).values()].map(([method]) => writeRow(method as Method))
  const parts = methods.flatMap((method) => [
    ...declareMethod(method).map(({ name }) => declarations.texts.get(name) ?? ''),
    writeFunction(method, declarations),
  ])
  const text = [...rows, ...parts, ...writeClasses(group, methods, declarations)].join('\n')
  return `${writeImports(text, shared)}${text}`
}

/** `gateway.messages` → `GatewayMessagesMethods` */
export function className(resource: string): string {
  return `${writeTypeName(resource)}Methods`
}

/** `phoneNumbersList` */
function functionName({ typeName }: Method): string {
  return `${typeName.charAt(0).toLowerCase()}${typeName.slice(1)}`
}

function rowName({ row }: Method): string {
  return `${toCamelCase(row.name.replaceAll('.', '_'))}Row`
}

const senders = {
  object: 'callRow',
  list: 'listRow',
  text: 'callForText',
  response: 'callForResponse',
  stream: 'streamRow',
} as const

const imported = {
  '../core/body.ts': ['type Body', 'type FileInput', 'writeBody'],
  '../core/call.ts': ['type Call', 'callForResponse', 'callForText', 'callRow'],
  '../core/client.ts': ['type Client', 'type Row'],
  '../core/link.ts': ['locateLink'],
  './constants.ts': ['type Vocabulary'],
  '../group.ts': ['Group'],
  '../core/list.ts': ['type ListCall', 'listRow'],
  '../core/multipart.ts': ['writeMultipart'],
  '../core/request.ts': ['type KeyedRequestOptions', 'type RequestOptions'],
  '../core/stream.ts': ['type EventStream', 'type StreamOptions', 'type StreamReset', 'streamRow'],
}

/** The imports of what a text uses. */
function writeImports(text: string, shared: readonly string[]): string {
  const found = listWords(text)
  const isUsed = (name: string) => found.has(name.replace('type ', ''))
  const files = { ...imported, './types.ts': shared.map((name) => `type ${name}`) }
  const lines = Object.entries<readonly string[]>(files).flatMap(([file, names]) => {
    const used = names.filter(isUsed)
    if (used.length === 0) return []
    if (!used.every((name) => name.startsWith('type '))) return [`import { ${used.join(', ')} } from '${file}'\n`]
    return [`import type { ${used.map((name) => name.slice(5)).join(', ')} } from '${file}'\n`]
  })
  return `${lines.join('')}\n`
}

/** What the client has to know of a row to send it. */
function writeRow(method: Method): string {
  const { row, path, headers, hasProduct, hasKey, result, output } = method
  const inner = result === 'list' && output ? findItems(output).inner : undefined
  const members = [
    `name: ${writeLiteral(row.name)}`,
    `method: '${row.method}'`,
    `door: '${doorOf(method)}'`,
    `path: ${writeLiteral(path)}`,
    ...(isLink(row) ? ['locate: locateLink'] : []),
    ...(hasProduct ? ['product: true'] : []),
    ...(hasKey ? ['key: true'] : []),
    ...(headers.length > 0 ? [`headers: [${headers.map(writeLiteral).join(', ')}]`] : []),
    ...(row.body === 'raw' ? ['write: writeBody'] : []),
    ...(row.file ? [`file: '${row.file.name}'`, 'write: writeMultipart'] : []),
    ...(inner === undefined ? [] : [`items: '${inner}'`]),
    ...(row.waits ? ['waits: true'] : []),
  ]
  return `const ${rowName(method)}: Row = { ${members.join(', ')} }\n`
}

const doorsOfTokens: Readonly<Record<string, string>> = {
  // The client sends its version, where one is optional too.
  token: 'business',
  link: 'business',
  edge_link: 'gateway',
  receiver: 'gateway',
  handshake: 'open',
}

function doorOf({ row }: Method): string {
  return doorsOfTokens[row.door] ?? row.door
}

interface Signature {
  readonly parameters: string[]
  /** What is handed on: the row's path arguments, parameters, bytes. */
  readonly handed: string[]
  readonly returns: string
  /** The same without `fields`, where more is known of what comes back. */
  readonly overload?: { readonly parameters: string[]; readonly returns: string }
}

function signatureOf(method: OfferedMethod, { apply }: Declarations): Signature {
  const { row, pathArguments, memberArguments, parameters, typeName, result } = method
  const isRaw = row.body === 'raw'
  const hasRequired = method.kinds !== undefined || parameters.some(({ required }) => required)
  const options = result === 'stream' ? 'StreamOptions' : method.hasKey ? 'KeyedRequestOptions' : 'RequestOptions'
  const argument = argumentOf(method)
  const write = (params: string) => [
    ...[...pathArguments, ...memberArguments].map(({ name }) => `${name}: string`),
    ...(isRaw ? ['body: Body'] : []),
    ...(parameters.length > 0 ? [`params${hasRequired ? '' : '?'}: ${apply(params, argument)}`] : []),
    `options?: ${options}`,
  ]
  const { fields } = row
  // What is asked for replaces the defaults; the id is left out only then.
  const hasOverload = fields?.mode === 'replace' && fields.defaults.includes('id')
  return {
    parameters: write(`${typeName}Params`),
    ...(hasOverload && {
      overload: {
        parameters: write(`${typeName}Params & { fields?: undefined }`),
        returns: apply(returnsOf(method, ' & { id: string }'), argument),
      },
    }),
    handed: [
      `[${pathArguments.map(({ name }) => name).join(', ')}]`,
      writeSent(method),
      'options',
      ...(isRaw ? ['body'] : []),
    ],
    returns: apply(
      returnsOf(method, fields?.mode === 'add' && fields.defaults.includes('id') ? ' & { id: string }' : ''),
      argument,
    ),
  }
}

/** The parameters, and what is sent beside them. */
function writeSent({ parameters, memberArguments, fixed }: Method): string {
  const params = parameters.length > 0 ? 'params' : 'undefined'
  const added = [
    ...Object.entries(fixed).map(([name, value]) => `${name}: ${writeLiteral(value)}`),
    ...memberArguments.map(({ name, member }) => `${member}: ${name}`),
  ]
  if (added.length === 0) return params
  return `{ ${[...(parameters.length > 0 ? ['...params'] : []), ...added].join(', ')} }`
}

function returnsOf({ typeName, result }: Method, more: string): string {
  switch (result) {
    case 'list':
      return `ListCall<${typeName}Item${more}>`
    case 'text':
      return 'Call<string>'
    case 'response':
      return 'Call<Response>'
    case 'stream':
      return `EventStream<${typeName}Event>`
    default:
      return `Call<${typeName}Response${more}>`
  }
}

/** The vocabulary that the types of a method are for. */
function argumentOf({ onlyIn }: OfferedMethod): string {
  return onlyIn === undefined ? 'V' : writeLiteral(onlyIn)
}

function writeFunction(method: OfferedMethod, declarations: Declarations): string {
  const { parameters, handed, returns, overload } = signatureOf(method, declarations)
  const generic = method.onlyIn === undefined ? '<V extends Vocabulary>' : ''
  const client = `client: Client<${argumentOf(method)}>`
  const name = functionName(method)
  const doc = writeComment([describe(method)], '')
  const declare = (given: readonly string[], gives: string) =>
    `export function ${name}${generic}(${[client, ...given].join(', ')}): ${gives}`
  const whole = declare(parameters, returns)
  const overloads = overload ? `${doc}${declare(overload.parameters, overload.returns)}\n${doc}${whole}\n` : doc
  return `${overloads}${whole} {\n  return ${senders[method.result]}(client, ${rowName(method)}, ${handed.join(', ')})\n}\n`
}

/** The class of a group, behind those of its parts. */
function writeClasses(group: string, methods: readonly OfferedMethod[], declarations: Declarations): string[] {
  const resources = new Set(methods.map(({ resource }) => resource))
  const parts = [...resources].filter((resource) => resource !== group)
  const own = (resource: string) => methods.filter((method) => method.resource === resource)
  return [
    ...parts.map((part) => writeClass(part, own(part), [], declarations)),
    writeClass(group, own(group), parts, declarations),
  ]
}

function writeClass(
  resource: string,
  methods: readonly OfferedMethod[],
  parts: readonly string[],
  declarations: Declarations,
): string {
  const members = methods.map((method) => {
    const { parameters, returns, overload } = signatureOf(method, declarations)
    const names = parameters.map((one) => one.split(/[?:]/)[0])
    const doc = writeComment(writeDoc(method), '  ')
    const own = method.onlyIn === undefined ? [] : [`this: ${className(resource)}<${argumentOf(method)}>`]
    const declare = (given: readonly string[], gives: string) =>
      `  ${method.name}(${[...own, ...given].join(', ')}): ${gives}`
    const whole = declare(parameters, returns)
    const overloads = overload ? `${doc}${declare(overload.parameters, overload.returns)}\n${doc}${whole}\n` : doc
    return `${overloads}${whole} {\n    return ${functionName(method)}(${['this.client', ...names].join(', ')})\n  }\n`
  })
  const fields = parts.map((part) => {
    const type = className(part)
    return `  readonly ${part.slice(part.lastIndexOf('.') + 1)}: ${type}<V> = new ${type}(this.client)\n`
  })
  const text = [...(fields.length > 0 ? [fields.join('')] : []), ...members].join('\n')
  return `/** \`client.${resource}\` */\nexport class ${className(resource)}<${parameter}> extends Group<V> {\n${text}}\n`
}

function describe({ sentence, onlyIn }: OfferedMethod): string {
  return onlyIn === undefined ? sentence : `${sentence} Only where the vocabulary is \`${onlyIn}\`.`
}

function writeDoc(method: OfferedMethod): string[] {
  return [describe(method), '', '@example', ...writeExample(method).split('\n')]
}

/** A call with the values of its example. */
function writeExample(method: Method): string {
  const { row, resource, name, pathArguments, memberArguments, parameters, result, example } = method
  const input = Object.entries(example).filter(
    ([member]) => member !== 'messaging_product' && parameters.some((parameter) => parameter.name === member),
  )
  const shown = input.map(([member, value]) => [member, row.file?.name === member ? undefined : value])
  const params = writeValue(Object.fromEntries(shown)).replace(/: undefined/, ': new Blob([bytes])')
  const given = [
    ...pathArguments.map((argument) => (argument.name === 'url' ? 'url' : writeLiteral(argument.example))),
    ...memberArguments.map(({ member }) => writeLiteral(example[member])),
    ...(row.body === 'raw' ? ['bytes'] : []),
    ...(shown.length > 0 ? [params] : []),
  ]
  const call = `client.${resource}.${name}(${given.join(', ')})`
  if (result === 'list') return `for await (const item of ${call}) …`
  return result === 'stream' ? `for await (const event of ${call}) …` : `await ${call}`
}
