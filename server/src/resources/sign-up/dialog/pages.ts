import { escapeHtml, type Page } from '../../../replies/page.ts'
import type { Choices, Chosen } from './choices.ts'
import { composeDialogPage, writeName } from './frame.ts'
import { link, popupField, type Refused, writeChoices, writeField, writeForm, writeNew, writeNotice } from './parts.ts'
import { type DialogMessage, formTargetOf, originOf } from './redirect.ts'
import type { DialogApp } from './request.ts'
import type { DialogState } from './ticket.ts'
import { describeScope } from './words.ts'

/** The pages, in the order in which a person comes to them. */
export const dialogSteps = ['person', 'business', 'account', 'number', 'code', 'consent'] as const
export type DialogStep = (typeof dialogSteps)[number]

/** The code belongs to the step of the number. */
const shownSteps = {
  person: 'You',
  business: 'Business',
  account: 'Account',
  number: 'Number',
  consent: 'Agree',
} as const

export interface StepView {
  readonly step: DialogStep
  readonly state: DialogState
  readonly app: DialogApp
  readonly chosen: Chosen
  readonly ticket: string
  /** The path that the service is under, and `/dialog`. */
  readonly base: string
  /** Where people may sign in, for them; undefined: with codes alone. */
  readonly issuer: string | undefined
  /** What there is to choose from; undefined: nobody may choose here, or the step has no list. */
  readonly choices: Choices | undefined
  readonly search: string
  readonly isLater: boolean
  readonly refused: Refused | undefined
  /** What has just been done, for people. */
  readonly said: string | undefined
  readonly codeDigits: number
  /** Where a sandbox shows the phones; undefined: it is none. */
  readonly phones: string | undefined
}

export function composeStep(view: StepView): Page {
  const { step, app, state } = view
  const { title, content } = steps[step](view)
  return composeDialogPage({
    title: `${title} – ${app.name}`,
    head: `<h1>Connect to ${writeName(app.name)}</h1>
<p class="lead">${writeName(app.name)} of ${writeName(app.business_name)} asks to work with an account of your business.</p>`,
    body: `${writeSteps(view)}
<div class="step">${content}</div>`,
    foot: writeFoot(view),
    formTarget: formTargetOf(state.redirect_uri),
  })
}

/** Where it ends, and a way out that every step has; the last one has it beside the consent. */
function writeFoot({ step, state, base, ticket }: StepView): string {
  const goesBack = `<p>Goes back to <bdi>${escapeHtml(originOf(state.redirect_uri) ?? state.redirect_uri)}</bdi></p>`
  if (step === 'consent') return goesBack
  const content = `${popupField}<button class="plain">Decline</button>`
  return `${goesBack}
${writeForm({ action: `${base}/decline`, ticket, content })}`
}

/** Where somebody is, with ways back to what was chosen. */
function writeSteps({ step, ticket, base, state, chosen }: StepView): string {
  const current = step === 'code' ? 'number' : step
  const isNumberDone = state.number_done && chosen.number?.isVerified !== false
  const reached = [true, state.person, state.business_id, state.account_id, isNumberDone]
  const names = Object.entries(shownSteps)
  const at = names.findIndex(([name]) => name === current)
  const items = names.map(([name, label], index) => {
    if (name === current) return `<li aria-current="step">${label}</li>`
    const isOpen = index < at || Boolean(reached[index])
    return isOpen
      ? `<li class="done"><a href="${link(`${base}/${name}`, { ticket })}">${label}</a></li>`
      : `<li>${label}</li>`
  })
  return `<nav aria-label="Steps"><ol class="steps">${items.join('')}</ol></nav>`
}

interface StepContent {
  readonly title: string
  /** Already HTML. */
  readonly content: string
}

const steps: Readonly<Record<DialogStep, (view: StepView) => StepContent>> = {
  person: writePerson,
  business: writeBusiness,
  account: writeAccount,
  number: writeNumber,
  code: writeCode,
  consent: writeConsent,
}

function listOf(
  view: StepView,
  choices: Choices,
  more: Pick<Parameters<typeof writeChoices>[0], 'label' | 'empty' | 'name' | 'chosen'>,
) {
  const { step, base, ticket, search, isLater } = view
  const page = `${base}/${step}`
  return writeChoices({ ...more, choices, page, action: page, ticket, search, isLater })
}

const nameLimits = 'maxlength="100" autocomplete="off" dir="auto"'

function writePerson(view: StepView): StepContent {
  const { choices, refused, base, ticket, app, state } = view
  if (!choices) return writeSignIn(view)
  const list = listOf(view, choices, {
    ...{ label: 'Search people and businesses', name: 'user_id', chosen: state.user_id },
    empty: 'No business has a person yet. Be the first: give a name and an e-mail address.',
  })
  const isNew = refused?.form === 'new-person'
  const form = writeForm({
    ...{ action: `${base}/new-person`, ticket, attributes: 'novalidate' },
    content: `${writeField({ name: 'name', label: 'Name', attributes: nameLimits, refused: isNew ? refused : undefined })}
${writeField({ name: 'email', label: 'E-mail address', attributes: 'type="email" maxlength="254" autocomplete="off"', refused: isNew ? refused : undefined })}
<div class="row"><button class="main">Go on as this person</button></div>`,
  })
  return {
    title: 'Who are you?',
    content: `<h2>Who are you?</h2>
<p>This is a sandbox: be anybody, and see what a business sees that connects to ${writeName(app.name)}.</p>
${writeNotice(refused)}${writeIssuer(view)}${list}
${writeNew('Somebody new', form, { isOpen: isNew || choices.items.length === 0 })}`,
  }
}

/**
 * A link: what a form leads to, and what that leads to, would all have to stand in the policy of this page. Whoever was there already, or
 * went wrong there, is asked who they are: otherwise the issuer would send them back at once as the same person.
 */
function writeIssuer({ issuer, base, ticket, state, refused }: StepView): string {
  if (issuer === undefined) return ''
  const again = state.person !== null || refused?.form === 'issuer' ? '1' : ''
  return `<div class="row"><a class="main" href="${link(`${base}/issuer`, { ticket, again })}">Sign in with ${escapeHtml(issuer)}</a></div>`
}

/** Where nobody may be anybody. */
function writeSignIn(view: StepView): StepContent {
  const { refused, base, ticket, app, state, issuer } = view
  const { person } = state
  const known = person
    ? `<p>You signed in as ${writeName(person.name)}, <bdi>${escapeHtml(person.email)}</bdi>. <a href="${link(`${base}/business`, { ticket })}">Go on</a></p>`
    : ''
  const form = writeForm({
    ...{ action: `${base}/sign-in`, ticket, attributes: 'novalidate' },
    content: `${writeField({ name: 'code', label: 'Code from whoever runs this service', attributes: 'maxlength="200" autocomplete="off" autocapitalize="none" spellcheck="false" dir="ltr"', refused })}
<div class="row"><button${issuer === undefined ? ' class="main"' : ''}>Sign in</button></div>`,
  })
  const ask = `<p>Ask whoever runs this service for a code, as a person of your business who connects it to ${writeName(app.name)}. It works once.</p>`
  const content =
    issuer === undefined
      ? `${ask}
${writeNotice(refused)}${form}`
      : `<p>Who are you? A person of your business connects it to ${writeName(app.name)}.</p>
${writeNotice(refused)}${writeIssuer(view)}
${writeNew('Sign in with a code', ask + form, { isOpen: refused !== undefined })}`
  return { title: 'Sign in', content: `<h2>Sign in</h2>\n${known}${content}` }
}

function writeBusiness(view: StepView): StepContent {
  const { choices, refused, base, ticket, state, app } = view
  const found = choices as Choices
  const list = listOf(view, found, {
    ...{ label: 'Search your businesses', name: 'business_id', chosen: state.business_id },
    empty: 'You have no business here yet. Give the name of yours.',
  })
  const form = writeForm({
    ...{ action: `${base}/new-business`, ticket, attributes: 'novalidate' },
    content: `${writeField({ name: 'name', label: 'Name of the business', attributes: nameLimits, refused })}
<div class="row"><button class="main">Add the business</button></div>`,
  })
  return {
    title: 'Which business?',
    content: `<h2>Which business connects to ${writeName(app.name)}?</h2>
<p>You are ${writeName(state.person?.name ?? '')}, <bdi>${escapeHtml(state.person?.email ?? '')}</bdi>.</p>
${writeNotice(refused)}${list}
${writeNew('A new business', form, { isOpen: refused?.form === 'new-business' || found.items.length === 0 })}`,
  }
}

function writeAccount(view: StepView): StepContent {
  const { choices, refused, base, ticket, state, chosen } = view
  const found = choices as Choices
  const list = listOf(view, found, {
    ...{ label: 'Search accounts', name: 'account_id', chosen: state.account_id },
    empty: 'The business has no account yet. Give the name of one.',
  })
  const form = writeForm({
    ...{ action: `${base}/new-account`, ticket, attributes: 'novalidate' },
    content: `${writeField({ name: 'name', label: 'Name of the account', attributes: nameLimits, refused })}
<div class="row"><button class="main">Add the account</button></div>`,
  })
  return {
    title: 'Which account?',
    content: `<h2>Which account of ${writeName(chosen.business?.name ?? '')}?</h2>
<p>The app will work with this account, and with no other.</p>
${writeNotice(refused)}${list}
${writeNew('A new account', form, { isOpen: refused?.form === 'new-account' || found.items.length === 0 })}`,
  }
}

function writeNumber(view: StepView): StepContent {
  const { choices, refused, base, ticket, state, chosen } = view
  const found = choices as Choices
  const list = listOf(view, found, {
    ...{ label: 'Search numbers', name: 'phone_number_id', chosen: state.phone_number_id },
    empty: 'The account has no number yet. Add one, or go on without.',
  })
  const form = writeForm({
    ...{ action: `${base}/new-number`, ticket, attributes: 'novalidate' },
    content: `${writeField({ name: 'phone_number', label: 'Phone number', hint: 'With its country code, such as +1 631 555 1005.', attributes: 'type="tel" maxlength="31" autocomplete="off" dir="ltr"', refused })}
${writeField({ name: 'verified_name', label: 'Name that people see', hint: 'In their chats, once it is reviewed.', attributes: 'maxlength="75" autocomplete="off" dir="auto"', refused })}
${writeMethods(refused?.values['code_method'])}
<div class="row"><button class="main">Add it and send the code</button></div>`,
  })
  const none = writeForm({
    ...{ action: `${base}/number`, ticket },
    content: '<div class="row"><button class="plain" name="none" value="1">Go on without a number</button></div>',
  })
  return {
    title: 'Which number?',
    content: `<h2>Which number of ${writeName(chosen.account?.name ?? '')}?</h2>
<p>People will get messages from it. The app can work with the other numbers of the account too.</p>
${writeNotice(refused)}${list}
${writeNew('A new number', form, { isOpen: refused?.form === 'new-number' || found.items.length === 0 })}
${none}`,
  }
}

function writeMethods(method = 'SMS'): string {
  const options = [
    ['SMS', 'Text message'],
    ['VOICE', 'Call'],
  ].map(
    ([value, label]) =>
      `<label><input type="radio" name="code_method" value="${value}"${method === value ? ' checked' : ''}> ${label}</label>`,
  )
  return `<fieldset><legend>How the code is sent to it</legend>${options.join('')}</fieldset>`
}

function writeCode(view: StepView): StepContent {
  const { refused, base, ticket, chosen, said, codeDigits, phones } = view
  const number = chosen.number?.display_phone_number ?? ''
  const look =
    phones === undefined
      ? ''
      : ` In this sandbox <a href="${escapeHtml(phones)}?phones=${number.replaceAll(/\D/g, '')}" target="_blank" rel="noopener">its phone</a> shows it.`
  const form = writeForm({
    ...{ action: `${base}/code`, ticket, attributes: 'novalidate' },
    content: `${writeField({ name: 'code', label: `Code of ${codeDigits} digits`, attributes: `class="code" inputmode="numeric" autocomplete="one-time-code" maxlength="${codeDigits}"`, refused })}
<div class="row"><button class="main">Verify the number</button></div>`,
  })
  const again = writeForm({
    ...{ action: `${base}/send-code`, ticket },
    content: `<div class="row"><button name="code_method" value="SMS">Send a new code</button><button name="code_method" value="VOICE">Call with a new code</button><a href="${link(`${base}/number`, { ticket })}">Another number</a></div>`,
  })
  return {
    title: 'Verify the number',
    content: `<h2>Is <bdi>${escapeHtml(number)}</bdi> yours?</h2>
<p>A code was sent to it. Type it here to show that the number is yours.${look}</p>
${writeNotice(refused)}${said === undefined ? '' : `<p class="notice said" role="status">${escapeHtml(said)}</p>`}
${form}${again}`,
  }
}

function writeConsent(view: StepView): StepContent {
  const { app, state, chosen, base, ticket, refused } = view
  const { user, business, account, number } = chosen
  const may = state.scopes
    .map(describeScope)
    .map(({ title, text }) => `<li><b>${escapeHtml(title)}</b><span>${escapeHtml(text)}</span></li>`)
  const fact = (label: string, name: string, detail: string) =>
    `<dt>${label}</dt><dd>${writeName(name)}<small><bdi>${escapeHtml(detail)}</bdi></small></dd>`
  const facts = [
    fact('App', app.name, `of ${app.business_name}`),
    fact('Business', business?.name ?? '', business?.id ?? ''),
    fact('Account', account?.name ?? '', account?.id ?? ''),
    number ? fact('Number', number.verified_name, number.display_phone_number) : '<dt>Number</dt><dd>None yet</dd>',
    fact('You', user?.name ?? '', user?.email ?? ''),
  ]
  const ends = writeForm({
    ...{ action: `${base}/consent`, ticket },
    content: `${popupField}<div class="row"><button class="main">Agree and connect</button><button formaction="${escapeHtml(base)}/decline">Decline</button></div>`,
  })
  return {
    title: 'Do you agree?',
    content: `<h2>May ${writeName(app.name)} work with this account?</h2>
${writeNotice(refused)}<dl class="facts">${facts.join('\n')}</dl>
<h3>What it may do then</h3>
<ul class="may">${may.join('\n')}</ul>
<p class="none">${writeName(app.business_name)} has access to the account from then on, with its other apps too, until the connection ends. Whoever runs this service can end it at any time.</p>
${ends}`,
  }
}

/** The last page of a pop-up: posts how it ended to the page that opened it, and goes on. */
export function composeEnd(app: DialogApp, message: DialogMessage, redirect_uri: string, next: string): Page {
  return composeDialogPage({
    title: `Back to ${app.name}`,
    head: `<h1>Back to ${writeName(app.name)}</h1>`,
    body: `<div class="step"${writeMessage(message, redirect_uri)} data-next="${escapeHtml(next)}"><p role="status">You are sent back.</p>
<div class="row"><a href="${escapeHtml(next)}">Go on if nothing happens</a></div></div>`,
  })
}

/** A dialog that cannot go on, of which the app hears in its pop-up. */
export function composeBroken(message: DialogMessage, redirect_uri: string, text: string): Page {
  return composeDialogPage({
    title: 'This sign-up cannot go on',
    head: '<h1>This sign-up cannot go on</h1>',
    body: `<div class="step"${writeMessage(message, redirect_uri)}><p role="alert">${escapeHtml(text)}</p><p class="none">What you confirmed is kept.</p></div>`,
  })
}

/** Nothing is posted where the redirect has no origin: nobody else may hear it. */
function writeMessage(message: DialogMessage, redirect_uri: string): string {
  const origin = originOf(redirect_uri)
  if (origin === undefined) return ''
  return ` data-message="${escapeHtml(JSON.stringify(message))}" data-origin="${escapeHtml(origin)}"`
}
