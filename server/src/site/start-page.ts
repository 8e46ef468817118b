import { quote, writeCurl } from '../../../console/shared/samples.js'
import { demoTokens } from '../auth/demo.ts'
import { commandName } from '../base/command-name.ts'
import { describeVersions, type ServedVersions } from '../graph/versions.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import { composePage, escapeHtml, hashSource, type Page } from '../replies/page.ts'
import { mark, writeCode } from '../replies/theme.ts'
import { chooseListedStatus } from '../resources/phone-numbers/listed-status.ts'
import { demoNumber } from './demo.ts'
import { readScripts } from './script.ts'
import { startStyle } from './start-style.ts'
import { type CountName, countLimit, type DemoNumber, type DemoState, type StoreState } from './store-state.ts'

export interface StartPageOptions {
  readonly prefix: string
  readonly publicUrl: string
  readonly packageVersion: string
  /** Oldest first. */
  readonly versions: ServedVersions
  readonly vocabulary: Vocabulary
  readonly state: StoreState
  /** Information only for the person running a trial; undefined in production. */
  readonly about: { readonly store: string; readonly startedTime: number } | undefined
  /** Why this page is shown in the place of the console. */
  readonly notice: string
}

/** The default address that commands use. */
const commandsDefaultUrl = 'http://127.0.0.1:8080'
const countLabels: Readonly<Record<CountName, string>> = {
  businesses: 'Businesses',
  accounts: 'Accounts',
  phone_numbers: 'Phone numbers',
  groups: 'Groups',
  waiting_deliveries: 'Waiting deliveries',
  failed_deliveries: 'Failed deliveries',
}

/** What a newcomer and an operator see first: whether it runs, what is in it, what to do next. */
export function composeStartPage(options: StartPageOptions): Page {
  const { prefix, state } = options
  const script = `${readScripts('copy')}\nstartCopying(document)`
  return composePage({
    title: state.reason === undefined ? 'Switchboard' : 'Switchboard: not ready',
    style: startStyle,
    sources: { 'script-src': [hashSource(script)] },
    body: `<main>
<header>
<div>
<div class="brand">${mark}</div>
<h1>Switchboard</h1>
<p class="lead">A self-hosted business messaging platform: accounts, phone numbers, calls, groups, media and webhooks, over one API.</p>
</div>
<a class="main-link" href="${escapeHtml(prefix)}/docs">Read and try the API</a>
</header>
<p class="notice">${escapeHtml(options.notice)}</p>
${writeFacts(options)}
${state.demo ? writeDemo(state.demo, options) : ''}
${writeLinks(options)}
</main>
<script>${script}</script>`,
  })
}

function writeFacts({ state, about, packageVersion, versions, vocabulary }: StartPageOptions): string {
  const isReady = state.reason === undefined
  const facts: [string, string][] = [
    ['Version', packageVersion],
    ['API', describeVersions(versions.all)],
    ['Vocabulary', vocabulary.name],
    ...(about ? [['Store', about.store] as [string, string]] : []),
  ]
  const started = about && new Date(about.startedTime).toISOString()
  return `<dl class="facts">
<div><dt>State</dt><dd class="state ${isReady ? 'good' : 'bad'}">${isReady ? 'Ready' : `Not ready: ${escapeHtml(state.reason)}`}</dd></div>
${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`).join('\n')}
${started ? `<div><dt>Started</dt><dd><time datetime="${started}">${started.slice(0, 16).replace('T', ' ')} UTC</time></dd></div>` : ''}
</dl>`
}

function writeDemo({ counts, numbers }: DemoState, options: StartPageOptions): string {
  const tiles = Object.entries(countLabels).map(([name, label]) => {
    const value = counts[name as CountName]
    return `<div><dt>${label}</dt> <dd>${value > countLimit ? `${countLimit}+` : value}</dd></div>`
  })
  return `<section aria-labelledby="try">
<h2 id="try">Three lines to paste</h2>
<p>The demo world is loaded, and <code>${demoTokens.owner}</code> is its owner’s token.</p>
<div class="lines">
${writeLines(options).join('\n')}
</div>
</section>
<section aria-labelledby="holds">
<h2 id="holds">In the store</h2>
<dl class="counts">
${tiles.join('\n')}
</dl>
</section>
<section aria-labelledby="numbers">
<h2 id="numbers">Phone numbers of the demo world</h2>
<p>Open one for its id and a line that reads it.</p>
<div class="numbers">
${numbers.map((number) => writeNumber(number, options)).join('\n')}
</div>
</section>`
}

function writeLines({ publicUrl, versions, vocabulary }: StartPageOptions): string[] {
  const base = `${publicUrl}/${versions.newest}`
  const owner = ['Authorization', `Bearer ${demoTokens.owner}`] as const
  const json = ['Content-Type', 'application/json'] as const
  const lines = [
    ['Read a phone number', { method: 'GET', url: readUrl(base, demoNumber), headers: [owner] }],
    [
      'Change its business profile',
      {
        method: 'POST',
        url: `${base}/${demoNumber}/${vocabulary.product}_business_profile`,
        headers: [owner, json],
        body: { text: JSON.stringify({ messaging_product: vocabulary.product, about: 'Plants for every corner' }) },
      },
    ],
  ] as const
  return [
    ...lines.map(([label, request]) => [label, writeCurl(request)] as const),
    [
      `Let a user write to it; the message goes out as a webhook (<code>${escapeHtml(commandName())} listen</code> shows it)`,
      writeSimulation(publicUrl),
    ] as const,
  ].map(([label, line]) => `<div><p>${label}</p>${writeCode(escapeHtml(line), 'this line')}</div>`)
}

/** A command and not a curl line, because each message needs a new id: the line works as often as it is pasted. */
function writeSimulation(publicUrl: string): string {
  return [
    `${commandName()} simulate message --to ${demoNumber} --from 16505551234 --text Hello`,
    ...(publicUrl === commandsDefaultUrl ? [] : ['--url', quote(publicUrl)]),
  ].join(' ')
}

function writeNumber(number: DemoNumber, { publicUrl, versions, vocabulary }: StartPageOptions): string {
  const { id, display_phone_number, verified_name, account_name, connection_status } = number
  const tone = connection_status === 'CONNECTED' ? 'good' : 'warn'
  const line = writeCurl({
    method: 'GET',
    url: readUrl(`${publicUrl}/${versions.newest}`, id),
    headers: [['Authorization', `Bearer ${demoTokens.owner}`]],
  })
  const listed = chooseListedStatus(vocabulary).show(number.link_status)
  const quality = number.quality_rating === 'NA' ? 'not rated' : number.quality_rating
  return `<details><summary><b>${escapeHtml(display_phone_number)}</b><span>${escapeHtml(verified_name)}</span><span class="account">${escapeHtml(account_name)}</span><span class="state ${tone}">${escapeHtml(connection_status)}</span></summary>
<div class="more"><p>Phone-Number-ID <code>${escapeHtml(id)}</code> · status <code>${escapeHtml(connection_status)}</code>, in lists <code>${escapeHtml(listed)}</code> · quality ${escapeHtml(quality)} · ${escapeHtml(number.account_mode)}</p>${writeCode(escapeHtml(line), `the line that reads ${escapeHtml(display_phone_number)}`)}</div></details>`
}

function readUrl(base: string, id: string): string {
  return `${base}/${id}?fields=name_status`
}

function writeLinks({ prefix, vocabulary }: StartPageOptions): string {
  const links = [
    ['docs#receiver', 'Receiver', `/${vocabulary.product}/webhooks`, 'Where the network’s edge hands in events.'],
    ['openapi.json', 'OpenAPI', '/openapi.json', 'The API, for generators and other tools.'],
    ['openapi-gateway.json', 'OpenAPI, gateway', '/openapi-gateway.json', 'The users’ half of the platform.'],
    ['openapi-operator.json', 'OpenAPI, operators', '/openapi-operator.json', 'What operators see and do.'],
    ['metrics', 'Metrics', '/metrics', 'Prometheus text.'],
    ['healthz', 'Alive', '/healthz', 'Whether the process answers.'],
    ['readyz', 'Ready', '/readyz', 'Whether the store is reached and up to date.'],
  ] as const
  const items = links.map(
    ([href, name, path, sentence]) =>
      `<li><a href="${escapeHtml(prefix)}/${href}"><b>${name} <code>${path}</code></b><span>${sentence}</span></a></li>`,
  )
  return `<section aria-labelledby="links">
<h2 id="links">Where things are</h2>
<ul class="links">
${items.join('\n')}
</ul>
</section>`
}
