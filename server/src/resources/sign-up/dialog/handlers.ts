import type { Db, Transaction } from '../../../db/database.ts'
import type { OpenContext } from '../../../graph/context.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { compileCheck } from '../../../graph/input/validation.ts'
import type { Node } from '../../../graph/nodes.ts'
import type { Reply } from '../../../graph/reply.ts'
import { Refusal } from '../../../graph/result.ts'
import { createAccount } from '../../account/store.ts'
import {
  addNumber,
  defaultLanguage,
  findCode,
  phoneNumberNotReal,
  readNewNumber,
  sendCodeAgain,
  verifyNumber,
} from '../../phone-numbers/public.ts'
import { type CodeMethod, numberCreationSchema } from '../../phone-numbers/schemas.ts'
import { createBusiness, createBusinessUser } from '../../portfolio/store.ts'
import { hasPersonLink, takePersonLink } from '../person-links.ts'
import {
  type ChosenNumber,
  findAccountOfBusiness,
  findNumberByDigits,
  findNumberOfAccount,
  findPerson,
  findPersonOfBusiness,
  type Person,
} from './choices.ts'
import { accountNotOfBusiness, businessNotOfPerson, numberNotOfAccount, personCodeWrong, personGone } from './errors.ts'
import { findMade, recordStep } from './recording.ts'
import { newNameSchema, newPersonSchema } from './schemas.ts'
import { checkMayBeAnybody, type Dialog, goOn, type SentForm, takeForm } from './steps.ts'
import { type DialogState, nobodyYet } from './ticket.ts'

type Form<Name extends string> = SentForm & { readonly [Key in Name]?: string }

const noAccount = { account_id: null, phone_number_id: null, number_done: false } as const
const noNumber = { phone_number_id: null, number_done: false } as const

const checkPerson = compileCheck(newPersonSchema)
const checkName = compileCheck(newNameSchema)
const checkNumber = compileCheck(numberCreationSchema)

/** A step that writes, with its record. Everything in it is under the trace of the dialog. */
export function write<T>(
  context: OpenContext,
  { trace }: DialogState,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return context.ports.transaction((tx) => work(tx.withCause({ ...tx.cause, trace })))
}

export function choosePerson(context: OpenContext, form: Form<'user_id'>): Promise<Reply> {
  return takeForm(context, 'person', 'person', form, async (dialog) => {
    checkMayBeAnybody(context)
    const person = await findPerson(context.db, form.user_id ?? '')
    if (!person) throw personGone()
    const state = { ...dialog.state, ...nobodyYet, person: { name: person.name, email: person.email } }
    await write(context, state, async (tx) => recordPerson(tx, context, state, 'sign_up.choose_person', person))
    return goOn(context, dialog, state)
  })
}

/** Nothing is stored of somebody new before there is a business that they are of. */
export function introducePerson(context: OpenContext, form: Form<'name' | 'email'>): Promise<Reply> {
  return takeForm(context, 'person', 'new-person', form, async (dialog) => {
    checkMayBeAnybody(context)
    const person = { name: readTyped(form.name), email: readTyped(form.email).toLowerCase() }
    const problem = checkPerson(person)
    if (problem) throw badArgument(problem)
    return goOn(context, dialog, { ...dialog.state, ...nobodyYet, person })
  })
}

/** Takes the code of a link that an operator made for a person. Wrong ones are counted as wrong tokens are, and write nothing. */
export function signIn(context: OpenContext, form: Form<'code'>): Promise<Reply> {
  return takeForm(context, 'person', 'sign-in', form, async (dialog) => {
    const { db, clock, guesses, remote_address } = context
    const code = readTyped(form.code)
    guesses.refuse(remote_address)
    if (!(await hasPersonLink(db, clock.now(), code))) {
      guesses.noteWrong(remote_address)
      throw personCodeWrong()
    }
    const state = await write(context, dialog.state, async (tx) => {
      const user_id = await takePersonLink(tx, clock.now(), code)
      const person = user_id === undefined ? undefined : await findPerson(tx, user_id)
      if (!person) throw personCodeWrong()
      const { name, email } = person
      const proven = { ...dialog.state, ...nobodyYet, person: { name, email }, proven_by: 'link' } as const
      recordPerson(tx, context, proven, 'sign_up.sign_in', person)
      return proven
    })
    return goOn(context, dialog, state)
  })
}

export function recordPerson(
  tx: Transaction,
  context: OpenContext,
  state: DialogState,
  operation: `sign_up.${string}`,
  { id, business_id }: Person,
): void {
  const subject = { id, kind: 'business_user', business_id, account_id: null } as const
  recordStep(tx, context, { ...state, user_id: id, business_id }, operation, subject)
}

export function chooseBusiness(context: OpenContext, form: Form<'business_id'>): Promise<Reply> {
  return takeForm(context, 'business', 'business', form, async (dialog) => {
    const email = dialog.state.person?.email ?? ''
    const user = await findPersonOfBusiness(context.db, email, form.business_id ?? '')
    if (!user) throw businessNotOfPerson()
    const state = withBusiness(dialog.state, user)
    await write(context, state, async (tx) =>
      recordStep(tx, context, state, 'sign_up.choose_business', businessNode(user.business_id)),
    )
    return goOn(context, dialog, state)
  })
}

export function addBusiness(context: OpenContext, form: Form<'name'>): Promise<Reply> {
  return takeForm(context, 'business', 'new-business', form, async (dialog) => {
    const name = readName(form.name)
    const { person } = dialog.state
    if (!person) throw personGone()
    const now = context.clock.now()
    const state = await write(context, dialog.state, async (tx) => {
      const made = await findBusinessMade(tx, dialog.state, person.email, name)
      if (made) return withBusiness(dialog.state, made)
      const business_id = await createBusiness(tx, context.random, now, name)
      const id = await createBusinessUser(tx, context.random, now, { ...person, business_id })
      const added = withBusiness(dialog.state, { id, business_id })
      recordStep(tx, context, added, 'sign_up.add_business', businessNode(business_id))
      return added
    })
    return goOn(context, dialog, state)
  })
}

async function findBusinessMade(tx: Transaction, state: DialogState, email: string, name: string) {
  for (const id of await findMade(tx, state, 'sign_up.add_business')) {
    const user = await findPersonOfBusiness(tx, email, id)
    const named = await tx.query
      .selectFrom('businesses')
      .select('id')
      .where('id', '=', id)
      .where('name', '=', name)
      .executeTakeFirst()
    if (user && named) return user
  }
  return undefined
}

/** Another business: what was chosen of the one before is over. */
function withBusiness(state: DialogState, user: { readonly id: string; readonly business_id: string }): DialogState {
  const kept = state.business_id === user.business_id ? {} : noAccount
  return { ...state, ...kept, user_id: user.id, business_id: user.business_id }
}

export function chooseAccount(context: OpenContext, form: Form<'account_id'>): Promise<Reply> {
  return takeForm(context, 'account', 'account', form, async (dialog) => {
    const { business_id } = dialog.state
    const account = await findAccountOfBusiness(context.db, business_id ?? '', form.account_id ?? '')
    if (!account) throw accountNotOfBusiness()
    const state = withAccount(dialog.state, account.id)
    await write(context, state, async (tx) =>
      recordStep(tx, context, state, 'sign_up.choose_account', accountNode(dialog, account.id)),
    )
    return goOn(context, dialog, state)
  })
}

export function addAccount(context: OpenContext, form: Form<'name'>): Promise<Reply> {
  return takeForm(context, 'account', 'new-account', form, async (dialog) => {
    const name = readName(form.name)
    const business_id = dialog.chosen.business?.id ?? ''
    const now = context.clock.now()
    const id = await write(context, dialog.state, async (tx) => {
      for (const made of await findMade(tx, dialog.state, 'sign_up.add_account')) {
        const account = await findAccountOfBusiness(tx, business_id, made)
        if (account?.name === name) return made
      }
      const added = await createAccount(tx, context.random, now, { business_id, name })
      recordStep(tx, context, dialog.state, 'sign_up.add_account', accountNode(dialog, added))
      return added
    })
    return goOn(context, dialog, withAccount(dialog.state, id))
  })
}

function withAccount(state: DialogState, account_id: string): DialogState {
  return { ...state, ...(state.account_id === account_id ? {} : noNumber), account_id }
}

export function chooseNumber(context: OpenContext, form: Form<'phone_number_id' | 'none'>): Promise<Reply> {
  return takeForm(context, 'number', 'number', form, async (dialog) => {
    const { account } = dialog.chosen
    if (form.none !== undefined) {
      const state = { ...dialog.state, phone_number_id: null, number_done: true }
      await write(context, state, async (tx) =>
        recordStep(tx, context, state, 'sign_up.choose_number', accountNode(dialog, account?.id ?? '')),
      )
      return goOn(context, dialog, state)
    }
    const number = await findNumberOfAccount(context.db, account?.id ?? '', form.phone_number_id ?? '')
    if (!number) throw numberNotOfAccount()
    return goOnWithNumber(context, dialog, number)
  })
}

/** A number that nobody has verified gets a code, unless one is on its way. */
async function goOnWithNumber(context: OpenContext, dialog: Dialog, number: ChosenNumber): Promise<Reply> {
  const node = numberNode(dialog, number.id)
  const needsCode = !number.isVerified && !(await hasCode(context.db, context.clock.now(), number.id))
  if (needsCode) await context.ports.countUse('request_code', node)
  const state = { ...dialog.state, phone_number_id: number.id, number_done: true }
  await write(context, state, async (tx) => {
    if (needsCode) await sendCodeAgain({ ...partsOf(context), db: tx, node }, 'SMS', defaultLanguage)
    recordStep(tx, context, state, 'sign_up.choose_number', node)
  })
  return goOn(context, dialog, state)
}

async function hasCode(db: Db, now: number, number_id: string): Promise<boolean> {
  const code = await findCode(db, number_id)
  return code !== undefined && code.expires_time > now
}

export function addNewNumber(
  context: OpenContext,
  form: Form<'phone_number' | 'verified_name'> & { readonly code_method?: CodeMethod },
): Promise<Reply> {
  return takeForm(context, 'number', 'new-number', form, async (dialog) => {
    const given = { phone_number: readTyped(form.phone_number), verified_name: readTyped(form.verified_name) }
    const problem = checkNumber(given)
    if (problem?.place === 'phone_number') throw phoneNumberNotReal()
    if (problem) throw badArgument(problem)
    const account = accountNode(dialog, dialog.chosen.account?.id ?? '')
    const digits = readNewNumber(given).phone_number
    const known = await findNumberByDigits(context.db, account.id, digits)
    const knownNumber = known && (await findNumberOfAccount(context.db, account.id, known.id))
    // Added a moment ago, and again by going back.
    if (knownNumber) return goOnWithNumber(context, dialog, knownNumber)
    await context.ports.countUse('number_creation', account)
    const id = await write(context, dialog.state, async (tx) => {
      const added = await addNumber({ ...partsOf(context), db: tx, node: account }, given, form.code_method ?? 'SMS')
      recordStep(tx, context, dialog.state, 'sign_up.add_number', numberNode(dialog, added))
      return added
    })
    return goOn(context, dialog, { ...dialog.state, phone_number_id: id, number_done: true })
  })
}

export function sendNewCode(
  context: OpenContext,
  form: SentForm & { readonly code_method?: CodeMethod },
): Promise<Reply> {
  return takeForm(context, 'code', 'send-code', form, async (dialog) => {
    const method = form.code_method ?? 'SMS'
    const { number } = dialog.chosen
    if (!number || number.isVerified) return goOn(context, dialog, dialog.state)
    const node = numberNode(dialog, number.id)
    await context.ports.countUse('request_code', node)
    await write(context, dialog.state, async (tx) => {
      await sendCodeAgain({ ...partsOf(context), db: tx, node }, method, defaultLanguage)
      recordStep(tx, context, dialog.state, 'sign_up.send_code', node)
    })
    return goOn(context, dialog, dialog.state, { sent: method })
  })
}

export function takeCode(context: OpenContext, form: Form<'code'>): Promise<Reply> {
  return takeForm(context, 'code', 'code', form, async (dialog) => {
    const { number } = dialog.chosen
    // Sent twice: the first one was right.
    if (!number || number.isVerified) return goOn(context, dialog, dialog.state)
    const node = numberNode(dialog, number.id)
    const code = (form.code ?? '').replaceAll(/\s/g, '')
    const refusal = await write(context, dialog.state, async (tx) => {
      const refused = await verifyNumber({ ...partsOf(context), db: tx, node }, code)
      if (!refused) recordStep(tx, context, dialog.state, 'sign_up.verify_number', node)
      return refused
    })
    // Thrown behind the transaction: the try counts.
    if (refusal instanceof Refusal) throw refusal.error
    return goOn(context, dialog, dialog.state)
  })
}

function partsOf({ clock, random, settings }: OpenContext) {
  return { clock, random, settings }
}

function readTyped(text: string | undefined): string {
  return (text ?? '').trim()
}

function readName(text: string | undefined): string {
  const name = readTyped(text)
  const problem = checkName({ name })
  if (problem) throw badArgument(problem)
  return name
}

function businessNode(business_id: string): Node {
  return { id: business_id, kind: 'business', business_id, account_id: null }
}

/** Of a business that the dialog knows to be the person's, as a node that somebody may see. */
export function accountNode({ state }: Pick<Dialog, 'state'>, account_id: string): Node {
  return { id: account_id, kind: 'account', business_id: state.business_id ?? '', account_id }
}

function numberNode({ state, chosen }: Dialog, id: string): Node {
  const account_id = chosen.account?.id ?? ''
  return { id, kind: 'phone_number', business_id: state.business_id ?? '', account_id }
}
