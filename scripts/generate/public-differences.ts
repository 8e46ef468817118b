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
