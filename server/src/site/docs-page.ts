import { languages, type SampleField, type SampleRequest, writeSample } from '../../../console/shared/samples.js'
import type { demoTokens } from '../auth/demo.ts'
import { commandName } from '../base/command-name.ts'
import type { ConsoleFiles } from '../graph/ports.ts'
import { composePage, escapeHtml, hashSource, type Page } from '../replies/page.ts'
import { mark, writeCode } from '../replies/theme.ts'
import { writeArguments, writeMarkdown } from './argument-list.ts'
import { writeFrame } from './console-frame.ts'
import { composeConsolePage } from './console-shell.ts'
import { docsStyle } from './docs-style.ts'
import type { ReferenceArgument, ReferenceChapter, ReferenceOperation, Who } from './operations-by-chapter.ts'
import { readScripts } from './script.ts'

export interface DocsPageOptions {
  readonly chapters: readonly ReferenceChapter[]
  readonly packageVersion: string
  /** The base URL as clients see it. */
  readonly publicUrl: string
  /** The path prefix of a proxy in front of the service; usually empty. */
  readonly prefix: string
  /** The names on the wire. */
  readonly vocabulary: string
  /** Filled in, so that a request can be tried at once; undefined when the store does not know them, and in production. */
  readonly tokens: typeof demoTokens | undefined
  /** The console, in whose frame the page stands; undefined when there is none. */
  readonly frame: ConsoleFiles | undefined
}

const title = 'Switchboard API reference'

const tokenFields: Readonly<Record<Exclude<Who, 'nobody'>, string>> = {
  owner: 'Token',
  partner: 'Token of a partner',
  spare: 'Token that may end',
  gateway: 'Token of the gateway',
  operator: 'Token of an operator',
}

/**
 * The page to read and try the API. It works without its script for reading; the script fills in, sends and shows. In the console its
 * script does that, and puts the frame around it.
 */
export function composeDocsPage(options: DocsPageOptions): Page {
  const { prefix, frame } = options
  const home = escapeHtml(prefix)
  const reference = writeReference(options)
  if (frame) {
    const { sandbox } = frame
    const body = `<div id="app">${writeFrame({ prefix, sandbox, first: 'docs', main: reference })}</div>`
    return composeConsolePage({ frame, prefix, title, body })
  }
  const script = `${readScripts('copy', 'places', 'samples', 'search-key', 'docs')}
document.addEventListener('keydown', focusSearch)
startReference(document.querySelector('.reference'), new AbortController().signal)`
  return composePage({
    title,
    style: docsStyle(),
    sources: { 'script-src': [hashSource(script)], 'connect-src': ["'self'"] },
    body: `<a class="skip" href="#content">Skip to the operations</a>
<header class="top"><a class="brand" href="${home}/">${mark}Switchboard</a></header>
<main>${reference}</main>
<script>${script}</script>`,
  })
}

function writeReference(options: DocsPageOptions): string {
  const { chapters, prefix, packageVersion, tokens, vocabulary } = options
  const home = escapeHtml(prefix)
  const links = chapters.map(
    ({ name, title, operations }) =>
      `<li><a href="#${name}">${escapeHtml(title)} <span>${operations.length}</span></a></li>`,
  )
  return `<div class="reference" data-prefix="${home}" data-vocabulary="${escapeHtml(vocabulary)}"><div class="columns">
<div class="chapters">
<div class="find" hidden><label for="find">Find an operation</label><input id="find" type="search" data-search autocomplete="off" spellcheck="false" placeholder="for example: groups"></div>
<nav aria-label="Chapters"><ul>
${links.join('\n')}
</ul></nav>
</div>
<div class="operations" id="content">
<h1>API reference</h1>
<div class="lead">
<p>A business account owns phone numbers; through this API an app reads and changes both, and what belongs to them. Every path starts with the version and the id of a node. Errors have one form; on 429, and wherever <code>is_transient</code> is true, try again with exponential backoff.</p>
<p>Version ${escapeHtml(packageVersion)}. For tools: <a href="${home}/openapi.json">openapi.json</a>, for the users’ half <a href="${home}/openapi-gateway.json">openapi-gateway.json</a>, and for operators <a href="${home}/openapi-operator.json">openapi-operator.json</a> (OpenAPI 3.1).</p>
</div>
<noscript><p class="lead">Without JavaScript nothing can be sent from here; the <code>curl</code> lines work all the same.</p></noscript>
${writeTokens(tokens)}
${chapters.map((chapter) => writeChapter(chapter, options)).join('\n')}
<p class="none" hidden role="status">No operation matches.</p>
</div>
</div></div>`
}

function writeTokens(tokens: DocsPageOptions['tokens']): string {
  const fields = Object.entries(tokenFields).map(
    ([who, label]) =>
      `<div><label for="token-${who}">${label}</label><input id="token-${who}" value="${escapeHtml(tokenOf(who as Who, tokens) ?? '')}"${who === 'spare' ? ' placeholder="a new token"' : ''} autocomplete="off" spellcheck="false"></div>`,
  )
  const hint =
    tokens === undefined
      ? `Requests are sent to this server with the tokens below. <code>${escapeHtml(commandName())} token create --app ID</code> prints a new one.`
      : 'The requests below work as they stand, unless a note says what one needs first: open an operation and press <b>Send</b>. They go to this server, with the tokens and ids of the demo world, and writes do change it.'
  return `<form class="tokens" aria-label="Tokens"><p>${hint}</p>${fields.join('')}</form>`
}

/** Undefined where somebody has to enter one. */
function tokenOf(who: Who, tokens: DocsPageOptions['tokens']): string | undefined {
  return who === 'nobody' || who === 'spare' ? undefined : tokens?.[who]
}

function writeChapter({ name, title, operations }: ReferenceChapter, options: DocsPageOptions): string {
  return `<section aria-labelledby="${name}">
<h2 id="${name}">${escapeHtml(title)}</h2>
${operations.map((operation) => writeOperation(operation, options)).join('\n')}
</section>`
}

function writeOperation(operation: ReferenceOperation, options: DocsPageOptions): string {
  const { name, method, path, sentence, terms, parameters, body, response, errors } = operation
  const list = [...parameters.filter((one) => one.name !== 'Version'), ...(body?.members ?? [])]
  const shown =
    response === undefined ? '' : `<h3>Response</h3>${writeCode(writeJson(response), `the response of ${name}`)}`
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

/** The request that the script sends, and the samples shown without the script. */
function writeForm(operation: ReferenceOperation, options: DocsPageOptions): string {
  const { name, method, path, who, parameters, body, bytes, first, needs, sdk } = operation
  const sent = { method, path, who, first, sdk, ...(bytes !== undefined && { bytes }) }
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
${needs === undefined ? '' : `<p class="note">${writeMarkdown(needs)}</p>`}
<div class="send"><button class="main" type="submit" hidden>Send</button><span class="status" role="status"></span></div>
<div class="answer" hidden><ol class="needed"></ol><pre tabindex="0" aria-label="The response to ${name}"></pre></div>
${writeSamples(operation, options)}
</form>`
}

/** The text of an example in a field. */
function writeExample({ example }: ReferenceArgument): string {
  if (example === undefined) return ''
  return typeof example === 'string' ? example : JSON.stringify(example)
}

/** What the text of a field is read as: a list of types takes text. */
function typeOf({ schema }: ReferenceArgument): string {
  return typeof schema['type'] === 'string' ? schema['type'] : 'string'
}

function writeField(row: string, argument: ReferenceArgument): string {
  const { name, in: where, required } = argument
  return `<div class="argument"><label for="${row}-${name}">${escapeHtml(name)}</label><input id="${row}-${name}" name="${escapeHtml(name)}" data-in="${where}" data-type="${typeOf(argument)}" value="${escapeHtml(writeExample(argument))}"${required ? '' : ' placeholder="optional"'} autocomplete="off" spellcheck="false"></div>`
}

function writeFirst({ first }: ReferenceOperation): string {
  const steps = first.map(({ send, take }) => {
    const link = `<a href="#${send}"><code>${send}</code></a>`
    return take === undefined ? link : `${link}, whose response gives <code>${take.as.replace(/\/\d+$/, '')}</code>`
  })
  return `Sends first ${new Intl.ListFormat('en').format(steps)}.`
}

function writeSamples(operation: ReferenceOperation, options: DocsPageOptions): string {
  const { method, path, who, parameters, body, bytes, sdk, name } = operation
  const { publicUrl, tokens, vocabulary } = options
  const request: SampleRequest = {
    ...{ method, path, who, bytes, sdk, vocabulary },
    base: publicUrl,
    token: tokenOf(who, tokens) ?? 'TOKEN',
    fields: parameters.map((one): SampleField => {
      return { name: one.name, in: one.in, value: writeExample(one), type: typeOf(one) }
    }),
    body: body && JSON.stringify(body.example, null, 2),
  }
  const choices = languages.map(
    (language) =>
      `<button type="button" data-language="${language}" aria-pressed="${language === 'curl'}">${language}</button>`,
  )
  const samples = languages.map(
    (language) =>
      `<div class="sample" data-language="${language}"><h4>${language}</h4><pre tabindex="0" aria-label="${name} in ${language}"><code>${escapeHtml(writeSample(language, request))}</code></pre><button type="button" class="copy" hidden aria-label="Copy ${name} in ${language}">Copy</button></div>`,
  )
  return `<div class="languages" role="group" aria-label="Language of the sample" hidden>${choices.join('')}</div>${samples.join('')}`
}

function writeJson(value: unknown): string {
  return escapeHtml(JSON.stringify(value, null, 2))
}
