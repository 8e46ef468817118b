import type { Transaction } from '../../../db/database.ts'
import type { OpenContext } from '../../../graph/context.ts'
import { Reply } from '../../../graph/reply.ts'
import { replyWithPage } from '../../../replies/missing.ts'
import { connect, lockAccount } from '../connections.ts'
import { selectLive } from '../store.ts'
import { findAutoChoice, findChosen, findDialogApp, findFirstNumber, findNumberOfAccount } from './choices.ts'
import {
  accountNotOfBusiness,
  autoFoundNothing,
  autoNumberUnknown,
  autoOnlyInSandbox,
  dialogForged,
  dialogWithdrawn,
  disconnectedSince,
  numberNotOfAccount,
} from './errors.ts'
import { accountNode } from './handlers.ts'
import { composeEnd } from './pages.ts'
import { findMade, recordStep } from './recording.ts'
import { acceptedUri, composeMessage, type DialogEvent, declinedUri } from './redirect.ts'
import { type DialogApp, isListed, readDialogRequest } from './request.ts'
import type { DialogQuery } from './schemas.ts'
import {
  composePageOf,
  type Dialog,
  goOn,
  isSecure,
  mayBeAnybody,
  redirectTo,
  type SentForm,
  takeEnd,
  takeForm,
} from './steps.ts'
import { type DialogState, dialogLifetime, drawBrowser, nobodyYet, readBrowser, writeBrowserCookie } from './ticket.ts'

/** Opens the dialog, or answers at once where a test asks for that. */
export async function openDialog(context: OpenContext, query: DialogQuery): Promise<Reply> {
  const { db, clock, random, headers, trace, vocabulary } = context
  const app = await findDialogApp(db, query.client_id)
  const request = readDialogRequest(query, app, vocabulary)
  if (!app) throw new Error('a request without an app was taken')
  const state: DialogState = {
    app_id: app.id,
    ...request,
    trace,
    expires_time: clock.now() + dialogLifetime,
    ...nobodyYet,
  }
  if (query.auto !== undefined) return answerAtOnce(context, app, state, query)
  // A browser has one name in all its dialogs, so that two of them go on beside each other.
  const browser = readBrowser(headers, isSecure(context)) ?? drawBrowser(random)
  const chosen = await findChosen(db, state)
  const page = await composePageOf(context, { state, app, chosen, browser }, 'person', {})
  const { html, headers: own } = page
  const cookie = writeBrowserCookie(headers.host, browser, isSecure(context))
  return new Reply({ ...own, 'set-cookie': [cookie] }, html)
}

/** In a sandbox, for tests: the person of the first business that fits agrees or declines. */
async function answerAtOnce(
  context: OpenContext,
  app: DialogApp,
  state: DialogState,
  { auto, phone_number_id, ...wanted }: DialogQuery,
): Promise<Reply> {
  if (!mayBeAnybody(context)) throw autoOnlyInSandbox()
  if (isPartOfForeignPage(context)) throw dialogForged()
  const choice = await findAutoChoice(context.db, app, wanted)
  if (!choice) throw autoFoundNothing()
  const { user, business_id } = choice
  const number =
    phone_number_id === undefined
      ? await findFirstNumber(context.db, choice.account_id)
      : (await findNumberOfAccount(context.db, choice.account_id, phone_number_id))?.id
  if (number === undefined) throw autoNumberUnknown()
  const ids = { user_id: user.id, business_id, account_id: choice.account_id, phone_number_id: number }
  const chosen = { ...state, person: { name: user.name, email: user.email }, ...ids, number_done: true }
  const next = auto === 'accept' ? await consent(context, chosen, { byPage: false }) : await declineAs(context, chosen)
  return redirectTo(next)
}

/** Whether a page of another website asks for it as an image or the like: a browser that is sent here says `navigate`. */
function isPartOfForeignPage({ headers }: OpenContext): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers
  return (site === 'cross-site' || site === 'same-site') && mode !== 'navigate'
}

interface Consent {
  /** Whether a page asked, which may have stayed open. */
  readonly byPage: boolean
}

/** Stores what a person agreed to, and returns where the browser goes with the code. */
async function consent(context: OpenContext, state: DialogState, { byPage }: Consent): Promise<string> {
  const { clock, random, settings, ports } = context
  const { code } = await ports.transaction(async (own) => {
    const tx = own.withCause({ ...own.cause, trace: state.trace })
    // As of now: what was chosen may be gone, or somebody else's.
    const app = await findDialogApp(tx, state.app_id)
    if (!app || !isListed(app, state.redirect_uri)) throw dialogWithdrawn()
    const { user, account, number } = await findChosen(tx, state)
    if (!user || !account) throw accountNotOfBusiness()
    if (!number && state.phone_number_id !== null) throw numberNotOfAccount()
    if (byPage) await refuseDisconnected(tx, state, account.id)
    const agreed = await connect(
      { db: tx, clock, random, settings },
      {
        app_id: state.app_id,
        user_id: user.id,
        account_id: account.id,
        phone_number_id: number?.id ?? null,
        scopes: state.scopes,
        redirect_uri: state.redirect_uri,
        code_challenge: state.code_challenge,
      },
    )
    recordStep(tx, context, { ...state, user_id: user.id }, 'sign_up.agree', accountNode({ state }, account.id))
    return agreed
  })
  return acceptedUri(state.redirect_uri, code, state.state)
}

/**
 * A page that stayed open, or was loaded again, connects nothing that was disconnected meanwhile. Agreeing twice, as by two clicks, is one
 * connection.
 */
async function refuseDisconnected(tx: Transaction, state: DialogState, account_id: string): Promise<void> {
  const agreed = await findMade(tx, state, 'sign_up.agree')
  if (!agreed.includes(account_id)) return
  tx.lock(lockAccount, { account_id })
  const live = await selectLive(tx, account_id).where('connections.app_id', '=', state.app_id).executeTakeFirst()
  if (!live) throw disconnectedSince()
}

/** Nothing is stored of a refusal by somebody who is nobody yet. */
async function declineAs(context: OpenContext, state: DialogState): Promise<string> {
  const { app_id, user_id, business_id } = state
  if (user_id !== null && business_id !== null) {
    const subject = { id: app_id, kind: 'application', business_id, account_id: state.account_id } as const
    await context.ports.transaction(async (tx) => recordStep(tx, context, state, 'sign_up.decline', subject))
  }
  return declinedUri(state.redirect_uri, state.state)
}

type EndForm = SentForm & { readonly popup?: '0' | '1' }

export function agree(context: OpenContext, form: EndForm): Promise<Reply> {
  return takeForm(context, 'consent', 'consent', form, async (dialog) => {
    const { state, chosen } = dialog
    // Shown as verified a moment ago, or the form was made by hand.
    if (chosen.number && !chosen.number.isVerified) return goOn(context, dialog, state)
    const next = await consent(context, state, { byPage: true })
    return end(dialog, form, state.phone_number_id === null ? 'FINISH_ONLY_WABA' : 'FINISH', next)
  })
}

export function decline(context: OpenContext, form: EndForm): Promise<Reply> {
  return takeEnd(context, form.ticket, async (dialog) =>
    end(dialog, form, 'CANCEL', await declineAs(context, dialog.state)),
  )
}

function end({ app, state }: Dialog, { popup }: EndForm, event: DialogEvent, next: string): Reply {
  if (popup !== '1') return redirectTo(next)
  return replyWithPage(composeEnd(app, composeMessage(event, state), state.redirect_uri, next))
}
