import { isOwnPage } from '../../../auth/sessions.ts'
import { cutTrailingSlashes } from '../../../base/text/slashes.ts'
import type { Db } from '../../../db/database.ts'
import type { OpenContext } from '../../../graph/context.ts'
import { GraphError } from '../../../graph/graph-error.ts'
import { Reply } from '../../../graph/reply.ts'
import { replyWithPage } from '../../../replies/missing.ts'
import {
  type Choices,
  type Chosen,
  findChosen,
  findDialogApp,
  isPersonOfAny,
  type ListPart,
  listAccounts,
  listBusinesses,
  listNumbers,
  listPeople,
} from './choices.ts'
import { dialogForged, dialogOver, dialogWithdrawn, disconnectedSince, nobodySignsInHere } from './errors.ts'
import { composeBroken, composeStep, type DialogStep, dialogSteps } from './pages.ts'
import type { Refused } from './parts.ts'
import { describeProblem } from './problems.ts'
import { composeMessage } from './redirect.ts'
import { type DialogApp, isListed } from './request.ts'
import type { DialogPageInput } from './schemas.ts'
import { type DialogState, nobodyYet, readBrowser, readTicket, writeTicket } from './ticket.ts'

/** A dialog that is under way, as its browser brought it and as the store is now. */
export interface Dialog {
  readonly state: DialogState
  readonly app: DialogApp
  readonly chosen: Chosen
  readonly browser: string
  /** Whether something that was chosen before is not there any more. */
  readonly hasLost: boolean
}

export function isSecure({ publicUrl }: OpenContext): boolean {
  return publicUrl.startsWith('https:')
}

/** The path that the pages of the dialog are under. */
function baseOf({ publicUrl }: OpenContext): string {
  return `${cutTrailingSlashes(new URL(publicUrl).pathname)}/dialog`
}

/** Whether whoever asks may be anybody, as on the machine of a sandbox. */
export function mayBeAnybody({ settings, mayUseDemo }: OpenContext): boolean {
  return settings.sandbox && mayUseDemo
}

/** Throws where who somebody is must be shown, and not said. */
export function checkMayBeAnybody(context: OpenContext): void {
  if (!mayBeAnybody(context)) throw nobodySignsInHere()
}

/**
 * Who a person is, everything rests on. What somebody only said counts where anybody may be anybody and nowhere else: neither from
 * another machine with the same ticket, nor once the sandbox is none any more.
 */
function withoutPretence(context: OpenContext, state: DialogState): DialogState {
  return isProven(context, state) || mayBeAnybody(context) ? state : { ...state, ...nobodyYet }
}

/** An issuer that people do not sign in with any more proves nobody, from that moment on. */
function isProven({ ports }: OpenContext, { proven_by }: DialogState): boolean {
  return proven_by === 'link' || (proven_by === 'issuer' && ports.peopleIssuer !== undefined)
}

/** The choices of a ticket that still hold: what is gone, or not of what was chosen before it any more, has to be chosen again. */
function withoutLost(state: DialogState, { user, account, number }: Chosen): DialogState {
  if (!user) return { ...state, ...nobodyYet, person: state.person, proven_by: state.proven_by }
  if (!account) return { ...state, account_id: null, phone_number_id: null, number_done: false }
  if (!number && state.phone_number_id !== null) return { ...state, phone_number_id: null, number_done: false }
  return state
}

/** Who signed in with a code and is a person of no business any more is nobody. */
async function withoutRemoved(db: Db, state: DialogState): Promise<DialogState> {
  const { proven_by, person } = state
  if (proven_by === null || !person || (await isPersonOfAny(db, person.email))) return state
  return { ...state, ...nobodyYet }
}

function countChoices({ person, business_id, account_id, phone_number_id }: DialogState): number {
  return [person, business_id, account_id, phone_number_id].filter((one) => one !== null).length
}

/** Throws what stands against a ticket; of one whose time is over the app hears, because it is certain whose it was. */
export async function enter(context: OpenContext, ticket: string | undefined): Promise<Dialog | Reply> {
  const { db, clock, headers } = context
  const browser = readBrowser(headers, isSecure(context))
  const read = readTicket(db, browser, ticket, clock.now())
  if (!read || browser === undefined) throw dialogOver()
  const { isOver } = read
  const brought = withoutPretence(context, read.state)
  const app = await findDialogApp(db, brought.app_id)
  // The app may have taken the address off its list since.
  if (!app || !isListed(app, brought.redirect_uri)) throw dialogWithdrawn()
  if (isOver) {
    const { message } = dialogOver()
    const heard = composeMessage('ERROR', brought, { error_message: message })
    return replyWithPage(composeBroken(heard, brought.redirect_uri, message), 400)
  }
  const present = await withoutRemoved(db, brought)
  const chosen = await findChosen(db, present)
  const state = withoutLost(present, chosen)
  return { state, app, chosen, browser, hasLost: countChoices(state) < countChoices(brought) }
}

/** The first step that is still to be done. */
function findNextStep({ person, number_done }: DialogState, { business, account, number }: Chosen): DialogStep {
  if (!person) return 'person'
  if (!business) return 'business'
  if (!account) return 'account'
  if (!number_done) return 'number'
  return number && !number.isVerified ? 'code' : 'consent'
}

/** Sends the browser to the next step, so that going back and loading again send nothing twice. */
export async function goOn(
  context: OpenContext,
  { browser }: Pick<Dialog, 'browser'>,
  state: DialogState,
  more: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const step = findNextStep(state, await findChosen(context.db, state))
  return goTo(context, step, writeTicket(context.db, browser, state), more)
}

function goTo(
  context: OpenContext,
  step: DialogStep,
  ticket: string,
  more: Readonly<Record<string, string>> = {},
): Reply {
  return redirectTo(`${baseOf(context)}/${step}?${new URLSearchParams({ ticket, ...more })}`)
}

export function redirectTo(location: string, headers: Readonly<Record<string, string | string[]>> = {}): Reply {
  const own = { location, 'cache-control': 'no-store', 'referrer-policy': 'same-origin', 'content-length': 0 }
  return new Reply({ ...own, ...headers }, undefined, { status: 303 })
}

/** Leads back to the first step that is still to be done, and says so where something was lost. */
function goBack(context: OpenContext, { state, chosen, browser, hasLost }: Dialog): Reply {
  const ticket = writeTicket(context.db, browser, state)
  return goTo(context, findNextStep(state, chosen), ticket, hasLost ? { gone: '1' } : {})
}

const lostNotice = {
  values: {},
  problems: { '': 'What you chose before is not there any more, or is not yours any more; choose again.' },
  form: '',
}

const sentWords = { SMS: 'A new code was sent as a text message.', VOICE: 'A new code comes by a call.' } as const

/** Shows a step, or leads to the first one that is still to be done before it. */
export async function showStep(context: OpenContext, step: DialogStep, input: DialogPageInput): Promise<Reply> {
  const dialog = await enter(context, input.ticket)
  if (dialog instanceof Reply) return dialog
  const next = findNextStep(dialog.state, dialog.chosen)
  const isEarly = dialogSteps.indexOf(step) > dialogSteps.indexOf(next)
  const isVerified = step === 'code' && next === 'consent'
  if (isEarly || isVerified) return goBack(context, dialog)
  const said = input.sent && sentWords[input.sent]
  const isLost = dialog.hasLost || input.gone !== undefined
  return replyWithPage(
    await composePageOf(context, dialog, step, { input, said, ...(isLost && { refused: lostNotice }) }),
  )
}

interface Shown {
  readonly input?: DialogPageInput
  readonly refused?: Refused
  readonly said?: string | undefined
}

export async function composePageOf(
  context: OpenContext,
  { state, app, chosen, browser }: Omit<Dialog, 'hasLost'>,
  step: DialogStep,
  { input = {}, refused, said }: Shown,
) {
  const { db, settings, publicUrl } = context
  const { search = '', after } = input
  const part = { search: search.trim(), after }
  return composeStep({
    ...{ step, state, app, chosen, refused, said },
    ticket: writeTicket(db, browser, state),
    base: baseOf(context),
    issuer: context.ports.peopleIssuer?.host,
    choices: await listChoices(context, step, state, part),
    search: part.search,
    isLater: after !== undefined,
    codeDigits: settings.verificationCodeDigits,
    phones: settings.sandbox ? `${cutTrailingSlashes(new URL(publicUrl).pathname)}/` : undefined,
  })
}

async function listChoices(
  context: OpenContext,
  step: DialogStep,
  { person, business_id, account_id }: DialogState,
  part: ListPart,
): Promise<Choices | undefined> {
  const db: Db = context.db
  switch (step) {
    case 'person':
      return mayBeAnybody(context) ? listPeople(db, part) : undefined
    case 'business':
      return listBusinesses(db, person?.email ?? '', part)
    case 'account':
      return listAccounts(db, business_id ?? '', part)
    case 'number':
      return listNumbers(db, account_id ?? '', part)
    default:
      return undefined
  }
}

/** What no form can be sent again after. */
const endings: ReadonlySet<string> = new Set([dialogWithdrawn.id, disconnectedSince.id])

/** A form of a step, as it came. */
export interface SentForm {
  readonly ticket?: string
}

/**
 * Takes a form of the dialog. What rules have against it is shown on its page, beside the fields that it is about, with everything that
 * was typed.
 */
export async function takeForm(
  context: OpenContext,
  step: DialogStep,
  form: string,
  input: SentForm,
  work: (dialog: Dialog) => Promise<Reply>,
): Promise<Reply> {
  // The ticket is proof enough; a browser that says more is believed.
  if (!isOwnPage(context.headers)) throw dialogForged()
  const dialog = await enter(context, input.ticket)
  if (dialog instanceof Reply) return dialog
  const next = findNextStep(dialog.state, dialog.chosen)
  if (dialogSteps.indexOf(step) > dialogSteps.indexOf(next)) return goBack(context, dialog)
  try {
    return await work(dialog)
  } catch (error) {
    if (!(error instanceof GraphError) || error.status >= 500 || endings.has(error.definition.id)) throw error
    const values = Object.fromEntries(Object.entries(input))
    const refused = { values, problems: describeProblem(error), form }
    return replyWithPage(await composePageOf(context, dialog, step, { refused }), error.status, error.message)
  }
}

/** Takes one of the forms that end the dialog, from any step. */
export async function takeEnd(
  context: OpenContext,
  ticket: string | undefined,
  work: (dialog: Dialog) => Promise<Reply>,
): Promise<Reply> {
  if (!isOwnPage(context.headers)) throw dialogForged()
  const dialog = await enter(context, ticket)
  return dialog instanceof Reply ? dialog : work(dialog)
}
