import { type Static, Type } from 'typebox'
import { nameSchema } from '../../../world-part/schemas.ts'
import { codeMethods } from '../../phone-numbers/schemas.ts'

/** The address that an app opens. */
export const dialogQuerySchema = Type.Object({
  client_id: Type.String({ minLength: 1, maxLength: 64, description: 'The id of the app.' }),
  redirect_uri: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'Where the browser goes afterwards: exactly one of the redirect_uris of the app.',
  }),
  state: Type.String({
    minLength: 1,
    maxLength: 4096,
    description: 'What the app knows its own request by: it comes back as it was sent.',
  }),
  response_type: Type.Literal('code', { description: 'What comes back: a code.' }),
  scope: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: 'What the app asks for, separated by commas or blanks; left out: managing and messaging.',
    }),
  ),
  config_id: Type.Optional(Type.String({ maxLength: 256, description: 'Taken, and without effect.' })),
  code_challenge: Type.Optional(
    Type.String({
      pattern: '^[\\w-]{43}$',
      maxLength: 43,
      'x-expects': 'the SHA-256 hash of the code_verifier in base64url, which has 43 characters',
    }),
  ),
  code_challenge_method: Type.Optional(Type.Literal('S256', { description: 'How the challenge was made.' })),
  auto: Type.Optional(
    Type.Enum(['accept', 'decline'], {
      description: 'In a sandbox, on its own machine: answers at once, for tests.',
    }),
  ),
  account_id: Type.Optional(Type.String({ maxLength: 64, description: 'With auto: the account to connect.' })),
  phone_number_id: Type.Optional(Type.String({ maxLength: 64, description: 'With auto: the number to choose.' })),
  user_id: Type.Optional(
    Type.String({ maxLength: 64, description: 'With auto: the person of the business who answers.' }),
  ),
})
export type DialogQuery = Static<typeof dialogQuerySchema>

/** A ticket with the longest state and address. */
const ticket = Type.Optional(Type.String({ maxLength: 24_000, description: 'The dialog that is under way.' }))
function id(description: string) {
  return Type.Optional(Type.String({ maxLength: 64, description }))
}
/** What people type is checked by rules, so that what is wrong stands beside its field. */
function typed(description: string) {
  return Type.Optional(Type.String({ maxLength: 1000, description }))
}

/** A page of the dialog. */
export const dialogPageSchema = Type.Object({
  ticket,
  search: Type.Optional(
    Type.String({ maxLength: 200, description: 'Part of a name, an e-mail address, a number or an id.' }),
  ),
  after: Type.Optional(
    Type.String({ maxLength: 1200, description: 'Where the page of the list before this one ended.' }),
  ),
  sent: Type.Optional(Type.Enum(['SMS', 'VOICE'], { description: 'How a new code was sent just now.' })),
  gone: Type.Optional(Type.Literal('1', { description: 'Something that was chosen before is not there any more.' })),
})
export type DialogPageInput = Static<typeof dialogPageSchema>

const codeMethod = Type.Optional(Type.Enum(codeMethods, { description: 'How the code is sent.' }))

export const personFormSchema = Type.Object({ ticket, user_id: id('The person.') })
export const signInFormSchema = Type.Object({ ticket, code: typed('The code of a link that an operator made.') })
export const issuerLinkSchema = Type.Object({
  ticket,
  again: Type.Optional(
    Type.Literal('1', { description: 'To be asked there who it is, although somebody is signed in.' }),
  ),
})
export const newPersonFormSchema = Type.Object({
  ticket,
  name: typed('The name of the person.'),
  email: typed('Where the person gets mail.'),
})
export const businessFormSchema = Type.Object({ ticket, business_id: id('The business.') })
export const nameFormSchema = Type.Object({ ticket, name: typed('Its name.') })
export const accountFormSchema = Type.Object({ ticket, account_id: id('The account.') })
export const numberFormSchema = Type.Object({
  ticket,
  phone_number_id: id('The number.'),
  none: Type.Optional(Type.Literal('1', { description: 'Goes on without a number.' })),
})
export const newNumberFormSchema = Type.Object({
  ticket,
  phone_number: typed('With its country code.'),
  verified_name: typed('The name that users see.'),
  code_method: codeMethod,
})
export const codeFormSchema = Type.Object({ ticket, code: typed('The code that the number got.') })
export const sendCodeFormSchema = Type.Object({ ticket, code_method: codeMethod })

/** How the dialog ends. */
export const endFormSchema = Type.Object({
  ticket,
  popup: Type.Optional(
    Type.Enum(['0', '1'], { description: '1: the page that opened this one gets a message how it ended.' }),
  ),
})

/* What people type, once blanks around it are gone. */

export const newPersonSchema = Type.Object({
  name: nameSchema,
  email: Type.String({
    format: 'email',
    maxLength: 254,
    'x-expects': 'an e-mail address such as ada@example.com',
  }),
})
export const newNameSchema = Type.Object({ name: nameSchema })
