import { isOwnPage } from '../../../auth/sessions.ts'
import { SignInFailed } from '../../../auth/sign-in-failed.ts'
import type { OpenContext } from '../../../graph/context.ts'
import { GraphError } from '../../../graph/graph-error.ts'
import type { IssuerResponse, PeopleIssuer } from '../../../graph/ports.ts'
import { Reply } from '../../../graph/reply.ts'
import { replyWithPage } from '../../../replies/missing.ts'
import { findPersonByEmail } from './choices.ts'
import { dialogForged, emailNotVerified, emailOfNobody, issuerDeclined, issuerRefused, signInOver } from './errors.ts'
import { recordPerson, write } from './handlers.ts'
import { composePageOf, type Dialog, enter, goOn, redirectTo, type SentForm } from './steps.ts'
import { nobodyYet, writeTicket } from './ticket.ts'

type IssuerLink = SentForm & { readonly again?: '1' }

/** Sends the browser to the issuer, from where `finishAtIssuer` goes on. */
export async function beginAtIssuer(context: OpenContext, { ticket, again }: IssuerLink): Promise<Reply> {
  const { db, headers, ports } = context
  if (!isOwnPage(headers)) throw dialogForged()
  const dialog = await enter(context, ticket)
  if (dialog instanceof Reply) return dialog
  const issuer = ports.peopleIssuer
  if (!issuer) return goOn(context, dialog, dialog.state)
  try {
    const own = writeTicket(db, dialog.browser, dialog.state)
    const { location, cookies } = await issuer.begin(headers, own, again !== undefined)
    return redirectTo(location, { 'set-cookie': cookies })
  } catch (error) {
    return explain(context, dialog, issuer, error)
  }
}

/** Takes whom the browser brings back from the issuer as the person of its dialog. What went wrong is said on the page to sign in at. */
export async function finishAtIssuer(context: OpenContext, response: IssuerResponse): Promise<Reply> {
  const { db, headers, ports } = context
  const issuer = ports.peopleIssuer
  const returned = issuer?.resume(headers, response)
  if (!issuer || !returned) throw signInOver()
  const dialog = await enter(context, returned.ticket)
  if (dialog instanceof Reply) return dialog
  const { forget } = returned
  try {
    const email = await returned.findEmail()
    if (email === undefined) throw emailNotVerified({ host: issuer.host })
    const person = await findPersonByEmail(db, email)
    if (!person) throw emailOfNobody({ email })
    const { name } = person
    const state = { ...dialog.state, ...nobodyYet, person: { name, email }, proven_by: 'issuer' } as const
    await write(context, state, async (tx) => recordPerson(tx, context, state, 'sign_up.sign_in_at_issuer', person))
    return withCookies(await goOn(context, dialog, state), forget)
  } catch (error) {
    return withCookies(await explain(context, dialog, issuer, error), forget)
  }
}

function withCookies({ headers, body, status, fault }: Reply, cookies: string[]): Reply {
  return new Reply({ ...headers, 'set-cookie': cookies }, body, { status, fault })
}

/** Shows the page to sign in at again, with what went wrong: the dialog goes on, by another try or another way. */
async function explain(context: OpenContext, dialog: Dialog, { host }: PeopleIssuer, error: unknown): Promise<Reply> {
  const { status, text, fault } = describe(error, host)
  const refused = { values: {}, problems: { '': text }, form: 'issuer' }
  return replyWithPage(await composePageOf(context, dialog, 'person', { refused }), status, fault)
}

interface Explained {
  readonly status: number
  readonly text: string
  /** For the log: no address stands in it. */
  readonly fault: string
}

function describe(error: unknown, host: string): Explained {
  if (error instanceof SignInFailed) {
    const fault = error.message
    if (error.problem === 'unreachable') return { status: 503, text: sayUnreachable(host), fault }
    const { status, message } = error.problem === 'declined' ? issuerDeclined({ host }) : issuerRefused({ host })
    return { status, text: message, fault }
  }
  if (!(error instanceof GraphError) || error.status >= 500) throw error
  return { status: error.status, text: error.message, fault: error.definition.id }
}

function sayUnreachable(host: string): string {
  return `The sign-in at ${host} cannot be reached now; try it again later, or sign in with a code from whoever runs this service.`
}
