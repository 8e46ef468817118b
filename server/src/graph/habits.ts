/**
 * How a vocabulary differs from the specification besides its names: the habits of the public platform and of the client libraries that
 * exist for it. Code asks for a habit by its name and knows nothing of vocabularies; docs/public-platform.md is written from this list,
 * and server/test/habits.test.ts has a case for each, in both vocabularies.
 */
export const habits = {
  version_optional: {
    subject: 'Paths without a version',
    does: 'are served as the newest version',
    instead: 'are 400',
  },
  every_version: {
    subject: 'Versions',
    does: 'every one from `v13.0` to `v30.0` is served alike, as `v23.0`, unless `VERSIONS` is set',
    instead: 'only those of `VERSIONS` are served, by default `v23.0`',
  },
  token_in_query: {
    subject: 'The token',
    does: 'may come as the query parameter `access_token`',
    instead: 'comes in the header `Authorization` alone',
  },
  token_ends_told: {
    subject: 'A token that is refused',
    does: '190 without a subcode when it is unknown, with 463 when it has expired, with 467 when it was revoked',
    instead: '190 with 463 for all three',
  },
  public_refusals: {
    subject: 'The status of refusals',
    does: '400 where the specification has 422, 404 for 132001, 500 for 131000 and 131016; an object that is unknown or not visible is 400 with code 100, subcode 33 and the type `GraphMethodException`',
    instead: '422 for rules of the business, 404 with code 803 for objects that are unknown or not visible',
  },
  titled_errors: {
    subject: '`error.message`',
    does: 'begins with `(#CODE)` and the title of the code; the sentence that helps is in `error_data.details`, and for templates in `error_user_msg`',
    instead: 'is the sentence that helps',
  },
  strict_uploads: {
    subject: 'Uploads of media',
    does: '`messaging_product` is required, and a declared type that is not accepted is refused, whatever the bytes are',
    instead: '`messaging_product` may be left out, and the bytes count',
  },
  calls_need_session: {
    subject: '`connect` of a call',
    does: 'requires `session`',
    instead: 'may come without `session`',
  },
  only_what_exists: {
    subject: 'Messages that name a flow or a catalogue',
    does: 'are refused with 131009: there are no flows and no catalogues yet',
    instead: 'are sent',
  },
  missing_parameters_counted: {
    subject: 'A missing text parameter of a template',
    does: '132000',
    instead: '132012',
  },
  json_in_json: {
    subject: 'Objects and arrays in a JSON body',
    does: 'may come as JSON text, as some libraries send them',
    instead: 'come as what they are; only forms hold JSON text',
  },
  empty_is_left_out: {
    subject: 'null, and an empty text where the public document allows it',
    does: 'count as left out, as in `whatsapp_business_api_data.pin`, unless an empty text clears something',
    instead: 'are checked like any other value',
  },
  public_activities: {
    subject: '`GET {Account}/activities`',
    does: 'has the members of the public document (`activity_type`, `timestamp`, `actor_type`, `actor_name`, `details`) and its filters (`activity_type`, `since`, `until`)',
    instead: 'has the members of the specification',
  },
  document_statuses: {
    subject: 'The status of a listed number',
    does: 'has the values of the public document, and `CONNECTED`, which the specification shows: `UNVERIFIED` is shown as `PENDING`',
    instead: 'has the values of the specification',
  },
  webhook_media_urls: {
    subject: 'Media that users send, in webhooks',
    does: '`url` beside `id`, valid only with the token and for 5 minutes from the event on, also in a post that is repeated later; `sha256` in base64',
    instead: '`id` alone; `sha256` in hexadecimal digits',
  },
  public_message_ids: {
    subject: 'Ids of messages',
    does: '`wamid.` and base64 of at least 40 bytes that begin as the public ones do; the digits in them are random',
    instead: 'are shorter',
  },
  long_ids: {
    subject: 'Ids of objects in world files',
    does: 'have 15 to 20 digits',
    instead: 'have 15 or 16 digits and are below 2^53',
  },
  user_ids: {
    subject: 'Business-scoped user ids',
    does: '`user_id` beside `wa_id` in contacts of messages and in responses, `from_user_id` in messages, `recipient_user_id` in statuses: a country and 28 characters, the same for a user and a business; `recipient` accepts one instead of `to`, and an unknown one is 131009',
    instead: 'there are none',
  },
  update_qr_code_by_path: {
    subject: '`POST …/message_qrdls/{code}`',
    does: 'updates that code',
    instead: 'is no operation; the code is named in the body',
  },
  library_fields: {
    subject: 'Members of responses',
    does: "also those in the libraries' types and in the public document, with their types: fields of numbers and accounts; a profile and a linked app also in the object that holds it; the id of a bot; `creation_timestamp` of groups as a number; `limits` of call permissions always as a list; `solution_id` of an accepted or rejected invitation; `RESTRICTED` for an account whose review is `LIMIT_REACHED`; QR codes of letters and the digits 2 to 7",
    instead: 'those of the specification',
  },
  more_message_forms: {
    subject: 'Templates and interactive messages',
    does: 'also `CAROUSEL`, `LIMITED_TIME_OFFER` and `library_template_name`; interactive `carousel`, `address_message`, `request_contact_info` and `voice_call`, with what users answer them with; the button `VOICE_CALL`, whose payload comes back as `cta_payload` of the call',
    instead: 'those of the specification',
  },
} as const satisfies Record<string, Habit>

/** What a vocabulary with the habit does, and what the specification has instead. */
interface Habit {
  readonly subject: string
  readonly does: string
  readonly instead: string
}

export type HabitName = keyof typeof habits
export type Habits = { readonly [Name in HabitName]: boolean }

/** All of the habits, or none. */
export function haveHabits(all: boolean): Habits {
  return Object.fromEntries(Object.keys(habits).map((name) => [name, all])) as Habits
}
