import { type TObject, Type } from 'typebox'
import { defineOpen, defineOpenForm } from '../../../graph/define.ts'
import { notFound } from '../../../graph/errors.ts'
import type { NewRow, OpenRow } from '../../../graph/operation.ts'
import type { Vocabulary } from '../../../graph/vocabulary.ts'
import { agree, decline, openDialog } from './ends.ts'
import { composeDialogError } from './frame.ts'
import {
  addAccount,
  addBusiness,
  addNewNumber,
  chooseAccount,
  chooseBusiness,
  chooseNumber,
  choosePerson,
  introducePerson,
  sendNewCode,
  signIn,
  takeCode,
} from './handlers.ts'
import { beginAtIssuer } from './issuer.ts'
import { dialogSteps } from './pages.ts'
import {
  accountFormSchema,
  businessFormSchema,
  codeFormSchema,
  dialogPageSchema,
  dialogQuerySchema,
  endFormSchema,
  issuerLinkSchema,
  nameFormSchema,
  newNumberFormSchema,
  newPersonFormSchema,
  numberFormSchema,
  personFormSchema,
  sendCodeFormSchema,
  signInFormSchema,
} from './schemas.ts'
import { showStep } from './steps.ts'

const content = { 'text/html': Type.String({ contentMediaType: 'text/html' }) }
const errorPage = composeDialogError

/** The dialog in which a business connects itself to an app: pages for people, in a browser. */
export function dialogOperations(_vocabulary: Vocabulary): NewRow[] {
  return [
    defineOpen({
      name: 'sign_up.open_dialog',
      path: '/dialog/oauth',
      versions: 'optional',
      takesArguments: true,
      sentence:
        'Opens the sign-up in which a business connects itself to an app; ends by sending the browser back with a code or an error.',
      input: dialogQuerySchema,
      content,
      errorPage,
      returnsSecret: true,
      examples: {
        input: {
          client_id: '3000000000000001',
          redirect_uri: 'http://127.0.0.1:9000/connected',
          state: 'what-the-app-knows-it-by',
          response_type: 'code',
        },
        output: undefined,
      },
      run: openDialog,
    }),
    defineOpen({
      name: 'sign_up.show_step',
      path: '/dialog/{step}',
      takesArguments: true,
      sentence: 'Shows a step of a sign-up that is under way.',
      input: Type.Object({
        step: Type.String({ maxLength: 64, description: `Which one: ${dialogSteps.join(', ')}.` }),
        ...dialogPageSchema.properties,
      }),
      content,
      errorPage,
      errors: [400, 403, 404, 429, 500],
      examples: { input: { step: 'person' }, output: undefined },
      async run(context, { step, ...input }) {
        const known = dialogSteps.find((name) => name === step)
        if (!known) throw notFound()
        return showStep(context, known, input)
      },
    }),
    form('choose_person', 'person', 'Takes who is signing up, in a sandbox.', personFormSchema, choosePerson),
    form(
      'introduce_person',
      'new-person',
      'Takes the name and the e-mail address of somebody new, in a sandbox.',
      newPersonFormSchema,
      introducePerson,
    ),
    form('sign_in', 'sign-in', 'Takes the code by which an operator lets a person sign in.', signInFormSchema, signIn),
    defineOpen({
      name: 'sign_up.begin_at_issuer',
      path: '/dialog/issuer',
      takesArguments: true,
      sentence: 'Sends a browser to the issuer of OIDC_ISSUER, where OIDC_PEOPLE is on, to sign a person in there.',
      input: issuerLinkSchema,
      content,
      redirects: true,
      unready: content,
      errorPage,
      examples: { output: undefined },
      run: beginAtIssuer,
    }),
    form('choose_business', 'business', 'Takes which business connects itself.', businessFormSchema, chooseBusiness),
    form('add_business', 'new-business', 'Creates a business, whose person signs up.', nameFormSchema, addBusiness),
    form('choose_account', 'account', 'Takes which account is connected.', accountFormSchema, chooseAccount),
    form('add_account', 'new-account', 'Creates an account to connect.', nameFormSchema, addAccount),
    form('choose_number', 'number', 'Takes which number is meant, or that none is.', numberFormSchema, chooseNumber),
    form(
      'add_number',
      'new-number',
      'Creates a phone number in the account and sends it a verification code.',
      newNumberFormSchema,
      addNewNumber,
    ),
    form('send_code', 'send-code', 'Sends a new verification code to the number.', sendCodeFormSchema, sendNewCode),
    form('verify_number', 'code', 'Verifies the number with the code that was sent to it.', codeFormSchema, takeCode),
    form(
      'agree',
      'consent',
      'Connects the account to the app, and sends the browser back with a code.',
      endFormSchema,
      agree,
    ),
    form('decline', 'decline', 'Ends the sign-up, and sends the browser back with an error.', endFormSchema, decline),
  ]
}

function form<I extends TObject>(
  name: string,
  path: string,
  sentence: string,
  input: I,
  run: OpenRow<I>['run'],
): NewRow {
  return defineOpenForm({
    name: `sign_up.${name}`,
    path: `/dialog/${path}`,
    sentence,
    input,
    content,
    redirects: true,
    errorPage,
    // What the rules of the API have against a form is shown on its page, with their status.
    errors: [400, 403, 404, 422, 429, 500],
    examples: { output: undefined },
    run,
  })
}
