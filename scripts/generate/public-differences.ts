/** Where `VOCABULARY=whatsapp` differs from the public platform, apart from members of responses, which a list of the tests has. */
interface Difference {
  readonly subject: string
  readonly there: string
  readonly here: string
  readonly why: string
}

export const publicDifferences: readonly Difference[] = [
  {
    subject: 'Users',
    there: 'people with the app',
    here: 'phones in the console, behind the gateway, or of `./switchboard simulate`; every number that can exist can be written to',
    why: 'Switchboard has no network of its own',
  },
  {
    subject: 'A path that is no operation',
    there: '400 with code 2500',
    here: '404 with code 803 and the nearest path in `error_data.details`',
    why: 'a wrong path is found sooner',
  },
  {
    subject: 'Review of templates',
    there: 'minutes to a day',
    here: 'approved with the response to the creation, which says `PENDING`; `TEMPLATE_REVIEW=manual` leaves it to the operator',
    why: 'a test must not wait',
  },
  {
    subject: 'Ids of messages',
    there: 'contain the phone number of the user',
    here: 'have random digits in its place',
    why: 'an id outlives the forgetting of a user',
  },
  {
    subject: 'Ids of users in a business',
    there: 'in the response to a message only where `recipient` was used',
    here: '`user_id` is in every response to a message; a `recipient` that is no user of the business is refused with 131009',
    why: 'a bot learns the id without waiting for a webhook',
  },
  {
    subject: 'A webhook that is sent again',
    there: 'may have another address of its file',
    here: 'has the bytes of the first attempt, so that the address in it may have expired; `GET /{Media-ID}` gives a new one',
    why: 'repeated posts are the same, byte for byte, and have the same signature',
  },
  {
    subject: 'Carousels',
    there: 'cards may be products',
    here: 'cards are pictures or videos with buttons, and their links are fetched one after the other',
    why: 'there are no catalogues',
  },
  {
    subject: 'Call buttons',
    there: 'the platform knows which message was pressed',
    here: 'the payload comes back as `cta_payload` when the call names its message, as the phone of the console does',
    why: 'another phone is behind the gateway, which reports its calls',
  },
  {
    subject: 'Limited-time offers',
    there: 'an end in the past is not documented',
    here: 'is accepted, and the phone says that the offer is over',
    why: 'a test can see what the user sees',
  },
  {
    subject: 'The library of templates',
    there: 'some hundred templates',
    here: '`order_confirmation`, `delivery_update`, `appointment_reminder`, `payment_received`, `account_alert` and `feedback_request` in `en_US` and `es`, in words of our own',
    why: 'enough to test what uses a library',
  },
  {
    subject: 'Sign-up of businesses',
    there: 'people sign in with an account of the platform, in a dialog that its JavaScript library opens',
    here: '[the same address, parameters, messages and exchange](sign-up.md) without a library; in a sandbox people choose who they are, and `auto=accept` answers without a browser',
    why: 'a test needs neither people nor their accounts',
  },
  {
    subject: 'Tokens of a sign-up',
    there: 'end after 60 days or never, as the configuration of the app says; `config_id` chooses one',
    here: 'never end by themselves; `config_id` is taken and has no effect',
    why: 'there are no configurations: `scope` and the person say what a token may do',
  },
  {
    subject: 'A code of a sign-up that comes twice',
    there: 'is refused',
    here: 'is refused, and the token that was given for it ends; a wrong `code_verifier` has the subcode 36009',
    why: 'a code that comes twice has leaked',
  },
  {
    subject: 'Versions',
    there: 'differ from each other, and end',
    here: 'all are served as v23.0',
    why: 'one document is served, and libraries that name another version work',
  },
  {
    subject: 'Prices',
    there: 'conversations and messages are billed',
    here: '`pricing` in webhooks is there, and nothing is billed; the currency of an account is `XXX`',
    why: 'there is nothing to pay',
  },
  {
    subject: 'Webhooks',
    there: '`X-Hub-Signature-256`, retried for up to seven days',
    here: 'the same signature and besides it `webhook-id`, `webhook-timestamp` and `webhook-signature`; retried for `WEBHOOK_GIVE_UP_AFTER`, one conversation in order',
    why: 'a receiver can tell repeated and forged posts',
  },
  {
    subject: 'Verification codes',
    there: 'come by SMS or voice',
    here: 'are handed to your carrier, or shown in the log of a sandbox',
    why: 'Switchboard has no network of its own',
  },
  {
    subject: 'Tokens',
    there: 'from the developer pages or by OAuth',
    here: 'from `./switchboard token create`, the console or the world file',
    why: 'there is no account with the public platform',
  },
]
