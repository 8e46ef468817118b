// A request in the languages that the reference shows. The server writes them into the page, and the page anew when a field changes.

/** Parameters that are options of a call in the client. */
const optionNames = { 'idempotency-key': 'idempotencyKey', 'last-event-id': 'lastEventId' }
const widest = 88

export const languages = ['curl', 'JavaScript', 'Python']

export function writeSample(language, request) {
  if (language === 'JavaScript') return writeJavaScript(request)
  return language === 'Python' ? writePython(request) : writeCurl(toHttp(request))
}

/** A request as a line to paste into a shell. */
export function writeCurl({ method, url, headers, body }) {
  const implied = body === undefined ? 'GET' : 'POST'
  return [
    'curl',
    ...(method === implied ? [] : ['-X', method]),
    ...headers.flatMap(([name, value]) => ['-H', quote(`${name}: ${value}`)]),
    ...(body === undefined
      ? []
      : 'text' in body
        ? ['-d', quote(body.text)]
        : ['--data-binary', quote(`@${body.file}`)]),
    quote(url),
  ].join(' ')
}

export function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** What goes over the wire. */
function toHttp({ method, base, path, who, token, fields, body, bytes }) {
  const headers = who === 'nobody' ? [] : [['Authorization', `Bearer ${token}`]]
  const query = []
  let filled = path
  for (const { name, in: where, value } of fields) {
    if (value === '') continue
    if (where === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value))
    else if (where === 'header') headers.push([name, value])
    else query.push(`${name}=${encodeURIComponent(value)}`)
  }
  if (body !== undefined) headers.push(['Content-Type', 'application/json'])
  if (bytes !== undefined) headers.push(['Content-Type', 'application/octet-stream'])
  const url = `${base}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`
  const json = body === undefined ? undefined : { text: writeOneLine(body) }
  return { method, url, headers, body: bytes === undefined ? json : readBytes(bytes) }
}

/** What can be read stands in the sample itself. */
function readBytes(base64) {
  const text = atob(base64)
  return /^[\x20-\x7e]*$/.test(text) ? { text } : { file: 'picture.png' }
}

function writeJavaScript(request) {
  if (request.sdk.calls.length === 0) return '// The client has no method for this operation: send it as curl does.'
  const { base, token, sdk, vocabulary } = request
  const version = request.fields.find(({ name }) => name === 'Version')?.value
  const options = {
    baseUrl: base,
    ...(sdk.token && { [sdk.token]: token }),
    ...(vocabulary !== 'msgapp' && { vocabulary }),
    ...(version && version !== sdk.version && { version }),
  }
  const bytes = request.bytes === undefined ? undefined : readBytes(request.bytes)
  const { params, options: ofCall } = readParams(request)
  const method = chooseMethod(sdk.calls, params)
  const given = [...writePath(request), ...writeArguments(method, params), ...writeBody(bytes)]
  const call = `client.${method.call}(${[...given, ...writeParams(sdk, params, ofCall)].join(', ')})`
  const file = bytes && 'file' in bytes
  const lines = [
    `import { Switchboard } from '@switchboard/client'`,
    ...(file ? [`import { openFile } from '@switchboard/client/node'`] : []),
    '',
    `const client = new Switchboard(${writeValue(options, javaScript)})`,
  ]
  if (sdk.result === 'list') lines.push(`for await (const item of ${call}) console.log(item)`)
  else if (sdk.result === 'stream') lines.push(`for await (const event of ${call}) console.log(event)`)
  else if (sdk.result === 'response') lines.push(`const response = await ${call}`, 'console.log(await response.text())')
  else lines.push(`console.log(await ${call})`)
  return lines.join('\n')
}

function writePath({ fields, sdk, base, path }) {
  if (sdk.link) return [javaScript.text(base + path)]
  return sdk.args.map((name) => javaScript.text(fields.find((field) => field.name === name)?.value || '…'))
}

function writeBody(bytes) {
  if (bytes === undefined) return []
  return ['text' in bytes ? javaScript.text(bytes.text) : `await openFile('${bytes.file}')`]
}

/** Parameters and options, in which the client fills in the product itself. */
function readParams({ fields, body, sdk }) {
  const params = {}
  const options = {}
  for (const { name, in: where, value, type } of fields) {
    if (value === '' || where === 'path') continue
    const option = optionNames[name.toLowerCase()]
    if (option) options[option] = value
    else params[name] = readValue(value, type)
  }
  const members = body === undefined ? {} : readJson(body)
  if (typeof members === 'object' && members) Object.assign(params, members)
  if (sdk.product) delete params['messaging_product']
  return { params, options }
}

/** The method that sends these parameters; an operation that does several things has several. */
export function chooseMethod(methods, params) {
  const fits = ({ fixed = {}, args = [] }) =>
    Object.entries(fixed).every(([name, value]) => params[name] === value) && args.every((name) => name in params)
  return methods.find(fits) ?? methods[0]
}

/** Takes what the method sends itself out of the parameters, and its arguments. */
export function takeArguments({ fixed = {}, args = [] }, params) {
  const taken = args.map((name) => params[name])
  for (const name of [...Object.keys(fixed), ...args]) delete params[name]
  return taken
}

function writeArguments(method, params) {
  return takeArguments(method, params).map((value) => javaScript.text(String(value ?? '…')))
}

function writeParams(sdk, params, options) {
  const written = Object.keys(params).length > 0 ? [writeValue(params, javaScript)] : []
  if (Object.keys(options).length === 0) return written
  return [...(written.length > 0 || !sdk.params ? written : ['{}']), writeValue(options, javaScript)]
}

function writePython(request) {
  const { method, url, headers, body } = toHttp(request)
  const data = writePythonData(request, body)
  const implied = body === undefined ? 'GET' : 'POST'
  const given = [
    python.text(url),
    ...(method === implied ? [] : [`method=${python.text(method)}`]),
    ...(headers.length === 0 ? [] : [`headers=${writeValue(Object.fromEntries(headers), python, '    ')}`]),
    ...(data === undefined ? [] : [`data=${data}`]),
  ]
  return [
    'import json',
    'from urllib.error import HTTPError',
    'from urllib.request import Request, urlopen',
    '',
    'request = Request(',
    ...given.map((line) => `    ${line},`),
    ')',
    'try:',
    '    with urlopen(request) as response:',
    `        ${pythonReaders[request.sdk.result] ?? 'print(json.load(response))'}`,
    'except HTTPError as error:',
    '    print(error.code, error.read().decode())',
  ].join('\n')
}

const pythonReaders = {
  text: 'print(response.read().decode())',
  response: "print(len(response.read()), 'bytes')",
  stream: 'for line in response: print(line.decode().rstrip())',
}

function writePythonData(request, body) {
  if (body === undefined) return undefined
  if ('file' in body) return `open(${python.text(body.file)}, 'rb').read()`
  const value = request.bytes === undefined ? readJson(request.body) : undefined
  if (value === undefined) return `${python.text(body.text)}.encode()`
  return `json.dumps(${writeValue(value, python, '    ')}).encode()`
}

const javaScript = {
  text: (text) => writeText(text),
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : writeText(name)),
  other: (value) => String(value),
  space: ' ',
  indent: '  ',
}
const python = {
  text: (text) => writeText(text),
  key: (name) => writeText(name),
  other: (value) => ({ true: 'True', false: 'False', null: 'None' })[String(value)] ?? String(value),
  space: '',
  indent: '    ',
}

/** In single quotes unless it holds some; the escapes of JSON are understood by both languages. */
function writeText(text) {
  const json = JSON.stringify(text)
  return text.includes("'") ? json : `'${json.slice(1, -1).replaceAll('\\"', '"')}'`
}

/** A value as source text: in one line if it fits. */
function writeValue(value, language, indent = '') {
  if (typeof value === 'string') return language.text(value)
  if (typeof value !== 'object' || value === null) return language.other(value)
  const isList = Array.isArray(value)
  const [begin, end] = isList ? '[]' : '{}'
  const inner = Object.entries(value).map(([name, one]) => {
    const text = writeValue(one, language, indent + language.indent)
    return isList ? text : `${language.key(name)}: ${text}`
  })
  if (inner.length === 0) return begin + end
  const space = isList ? '' : language.space
  const short = `${begin}${space}${inner.join(', ')}${space}${end}`
  if (short.length + indent.length < widest && !short.includes('\n')) return short
  return `${begin}\n${inner.map((one) => `${indent}${language.indent}${one},\n`).join('')}${indent}${end}`
}

function readValue(text, type) {
  const value = type === 'string' ? undefined : readJson(text)
  return value === undefined ? text : value
}

/** What is JSON in one line, anything else as it is. */
function writeOneLine(text) {
  const value = readJson(text)
  return value === undefined ? text : JSON.stringify(value)
}

export function readJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
