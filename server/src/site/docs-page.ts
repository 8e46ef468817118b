import type { demoTokens } from '../auth/demo.ts'
import { composePage, escapeHtml, hashSource, type Page } from '../replies/page.ts'
import { writeArguments, writeMarkdown } from './argument-list.ts'
import { writeCurl } from './curl.ts'
import { docsStyle } from './docs-style.ts'
import type { ReferenceArgument, ReferenceChapter, ReferenceOperation, Who } from './operations-by-chapter.ts'
import { readScripts } from './script.ts'
import { mark, writeCode } from './theme.ts'

export interface DocsPageOptions {
  readonly chapters: readonly ReferenceChapter[]
  readonly packageVersion: string
  /** The base URL as clients see it. */
  readonly publicUrl: string
  /** The path prefix of a proxy in front of the service; usually empty. */
  readonly prefix: string
  /** Filled in, so that a request can be tried at once; undefined when the store does not know them, and in production. */
  readonly tokens: typeof demoTokens | undefined
}

const tokenFields: Readonly<Record<Exclude<Who, 'nobody'>, string>> = {
  owner: 'Token',
  partner: 'Token of a partner',
  gateway: 'Token of the gateway',
  operator: 'Token of an operator',
}

/** The page to read and try the API. It works without its script for reading; the script fills in, sends and shows. */
export function composeDocsPage(options: DocsPageOptions): Page {
  const { chapters, prefix, packageVersion, tokens } = options
  const script = readScripts('copy', 'docs')
  const home = escapeHtml(prefix)
  const links = chapters.map(
    ({ name, title, operations }) =>
      `<li><a href="#${name}">${escapeHtml(title)} <span>${operations.length}</span></a></li>`,
  )
  return composePage({
    title: 'Switchboard API reference',
    style: docsStyle,
    sources: { 'script-src': [hashSource(script)], 'connect-src': ["'self'"] },
    body: `<a class="skip" href="#content">Skip to the operations</a>
<div class="layout">
<aside>
<a class="brand" href="${home}/">${mark}Switchboard</a>
<div class="find" hidden><label for="find">Find an operation</label><input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="for example: groups"></div>
<p class="console-links">${writeConsoleLinks(home)}</p>
<nav aria-label="Chapters"><ul>
${links.join('\n')}
</ul></nav>
</aside>
<main id="content" data-prefix="${home}">
<h1>API reference</h1>
<div class="lead">
<p>A business account owns phone numbers; through this API an app reads and changes both, and what belongs to them. Every path starts with the version and the id of a node. Errors have one form; on 429, and wherever <code>is_transient</code> is true, try again with exponential backoff.</p>
<p>Version ${escapeHtml(packageVersion)}. For tools: <a href="${home}/openapi.json">openapi.json</a>, for the users’ half <a href="${home}/openapi-gateway.json">openapi-gateway.json</a>, and for operators <a href="${home}/openapi-operator.json">openapi-operator.json</a> (OpenAPI 3.1).</p>
</div>
<noscript><p class="lead">Without JavaScript nothing can be sent from here; the <code>curl</code> lines work all the same.</p></noscript>
${writeTokens(tokens)}
${chapters.map((chapter) => writeChapter(chapter, options)).join('\n')}
<p class="none" hidden role="status">No operation matches.</p>
</main>
</div>
<script>${script}</script>`,
  })
}

/** The pages of the console, which is the frame of this one. */
function writeConsoleLinks(home: string): string {
  const pages = [
    ['', 'Phones'],
    ['live', 'Live'],
    ['deliveries', 'Deliveries'],
    ['connect', 'Connect your app'],
  ]
  return pages.map(([path, name]) => `<a href="${home}/${path}">${name}</a>`).join(' ')
}

function writeTokens(tokens: DocsPageOptions['tokens']): string {
  const fields = Object.entries(tokenFields).map(
    ([who, label]) =>
      `<div><label for="token-${who}">${label}</label><input id="token-${who}" data-token="${who}" value="${escapeHtml(tokens?.[who as keyof typeof tokens] ?? '')}" autocomplete="off" spellcheck="false"></div>`,
  )
  const hint =
    tokens === undefined
      ? 'Requests are sent to this server with the tokens below. <code>./switchboard token create --app ID</code> prints a new one.'
      : 'Every request below works as it stands: open an operation and press <b>Send</b>. They go to this server, with the tokens and ids of the demo world, and writes do change it.'
  return `<form class="tokens" aria-label="Tokens"><p>${hint}</p>${fields.join('')}</form>`
}

function writeChapter({ name, title, operations }: ReferenceChapter, options: DocsPageOptions): string {
  return `<section aria-labelledby="${name}">
<h2 id="${name}">${escapeHtml(title)}</h2>
${operations.map((operation) => writeOperation(operation, options)).join('\n')}
</section>`
}

function writeOperation(operation: ReferenceOperation, options: DocsPageOptions): string {
  const { name, method, path, sentence, terms, parameters, body, answer, errors } = operation
  const list = [...parameters.filter((one) => one.name !== 'Version'), ...(body?.members ?? [])]
  const shown = answer === undefined ? '' : `<h3>Response</h3>${writeCode(writeJson(answer), 'the answer')}`
  return `<details class="op" id="${name}">
<summary><span class="method ${method}">${method}</span><code>${escapeHtml(path)}</code><span class="what">${writeMarkdown(sentence)}</span></summary>
<div class="inside">
${writeForm(operation, options)}
<div class="about">
<p class="terms">${writeMarkdown(terms)}</p>
${list.length === 0 ? '' : `<h3>Parameters</h3>${writeArguments(list)}`}
${shown}
<p class="terms">Errors: ${errors.map((status) => `<code>${status}</code>`).join(' ')}</p>
</div>
</div>
</details>`
}

/** The request that the script sends, and the shell line shown without the script. */
function writeForm(operation: ReferenceOperation, options: DocsPageOptions): string {
  const { name, method, path, who, parameters, body, bytes, first } = operation
  const sent = { method, path, who, first, ...(bytes !== undefined && { bytes }) }
  const fields = parameters.map((parameter) => writeField(name, parameter))
  const text = body && JSON.stringify(body.example, null, 2)
  const area =
    text === undefined
      ? ''
      : `<div><label for="${name}-body">Body</label><textarea id="${name}-body" name="body" rows="${Math.min(text.split('\n').length, 16)}" spellcheck="false">${escapeHtml(text)}</textarea></div>`
  return `<form class="try" aria-label="Try ${name}" data-request="${escapeHtml(JSON.stringify(sent))}">
<h3>Request <code>${escapeHtml(name)}</code></h3>
${fields.join('\n')}
${area}
${bytes === undefined ? '' : '<p class="note">The body is bytes; those of an example are sent.</p>'}
${first.length === 0 ? '' : `<p class="note">${writeFirst(operation)}</p>`}
<div class="send"><button class="main" type="submit" hidden>Send</button><span class="status" role="status"></span></div>
<div class="answer" hidden><ol class="steps"></ol><pre tabindex="0" aria-label="The answer to ${name}"></pre></div>
${writeCode(escapeHtml(writeExampleCurl(operation, options)), `the curl line of ${name}`)}
</form>`
}

function writeField(row: string, { name, in: where, required, example }: ReferenceArgument): string {
  const value = example === undefined ? '' : typeof example === 'string' ? example : JSON.stringify(example)
  return `<div class="field"><label for="${row}-${name}">${escapeHtml(name)}</label><input id="${row}-${name}" name="${escapeHtml(name)}" data-in="${where}" value="${escapeHtml(value)}"${required ? '' : ' placeholder="optional"'} autocomplete="off" spellcheck="false"></div>`
}

function writeFirst({ first }: ReferenceOperation): string {
  const steps = first.map(({ send, take }) => {
    const link = `<a href="#${send}"><code>${send}</code></a>`
    return take === undefined ? link : `${link}, whose answer gives <code>${take.as.replace(/\/\d+$/, '')}</code>`
  })
  return `Sends first ${new Intl.ListFormat('en').format(steps)}.`
}

function writeExampleCurl(
  { method, path, who, parameters, body, bytes }: ReferenceOperation,
  { publicUrl, tokens }: DocsPageOptions,
): string {
  let filled = path
  const query: string[] = []
  const headers: [string, string][] = []
  if (who !== 'nobody') headers.push(['Authorization', `Bearer ${tokens?.[who] ?? 'TOKEN'}`])
  for (const { name, in: where, example } of parameters) {
    if (example === undefined) continue
    const text = typeof example === 'string' ? example : JSON.stringify(example)
    if (where === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(text))
    else if (where === 'header') headers.push([name, text])
    else query.push(`${name}=${encodeURIComponent(text)}`)
  }
  if (body) headers.push(['Content-Type', 'application/json'])
  if (bytes !== undefined) headers.push(['Content-Type', 'application/octet-stream'])
  return writeCurl({
    method,
    url: `${publicUrl}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`,
    headers,
    body: bytes === undefined ? body && { text: JSON.stringify(body.example) } : writeBytes(bytes),
  })
}

/** What can be read stands in the line itself. */
function writeBytes(base64: string): { text: string } | { file: string } {
  const text = Buffer.from(base64, 'base64').toString('latin1')
  return /^[\x20-\x7e]*$/.test(text) ? { text } : { file: 'picture.png' }
}

function writeJson(value: unknown): string {
  return escapeHtml(JSON.stringify(value, null, 2))
}
