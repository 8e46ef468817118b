import { type Static, Type } from 'typebox'
import { pagingSchema } from '../../graph/lists/paging.ts'
import { idSchema, refusedKeyword } from '../../graph/schemas.ts'

export const templateCategories = ['AUTHENTICATION', 'MARKETING', 'UTILITY'] as const
export const templateStatuses = ['PENDING', 'APPROVED', 'REJECTED', 'PAUSED', 'DISABLED'] as const
export const qualityScores = ['UNKNOWN', 'GREEN', 'YELLOW', 'RED'] as const
export const parameterFormats = ['POSITIONAL', 'NAMED'] as const
export const rejectionReasons = [
  'ABUSIVE_CONTENT',
  'INCORRECT_CATEGORY',
  'INVALID_FORMAT',
  'PROMOTIONAL',
  'SCAM',
  'TAG_CONTENT_MISMATCH',
] as const

export const templateLanguages = (
  'af sq ar ar_EG ar_AE ar_LB ar_MA ar_QA ar_SA az bn bg ca zh_CN zh_HK zh_TW hr cs da nl en en_GB en_US en_AU en_CA en_IN et fil fi fr ' +
  'fr_CA fr_BE ka de el gu ha he hi hu id ga it ja kn kk rw_RW ko ky_KG lo lv lt mk ms ml mr nb fa pl pt_BR pt_PT pa ro ru sr sk sl es ' +
  'es_AR es_ES es_MX es_CL es_CO es_PE es_VE sw sv ta te th tr uk ur uz vi zu'
).split(' ')

/** The list would be a sentence that nobody reads. */
export const templateLanguageSchema = Type.Enum(templateLanguages, {
  'x-expects': 'the code of a language such as en_US; the documentation lists all',
})

export const templateNameSchema = Type.String({
  pattern: '^[a-z0-9_]+$',
  minLength: 1,
  maxLength: 512,
  'x-expects': 'a name of 1 to 512 characters of a-z, 0-9 and _',
})

const ownTypes = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS'] as const
const publicTypes = [...ownTypes, 'CAROUSEL', 'LIMITED_TIME_OFFER'] as const
const ownMembers =
  'HEADER: `format` (TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION), `text`, `example`; BODY: `text`, `example`, or `add_security_recommendation`; FOOTER: `text`, or `code_expiration_minutes`; BUTTONS: `buttons`'

/**
 * Components as they are sent. Which members one has depends on its type, so the rest of its form is for the rules. There are as many
 * as there are types: each is there once at the most.
 */
function makeComponentsSchema(hasPublicForms: boolean) {
  const types = hasPublicForms ? publicTypes : ownTypes
  const list = `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`
  const members = hasPublicForms
    ? `${ownMembers}; CAROUSEL: \`cards\`, each with \`components\`; LIMITED_TIME_OFFER: \`limited_time_offer\` with \`text\` and \`has_expiration\``
    : ownMembers
  const component = Type.Object(
    { type: Type.String({ maxLength: 100, description: `${list}, in either case.` }) },
    { additionalProperties: true, description: `${members}.` },
  )
  return Type.Array(component, {
    minItems: 1,
    maxItems: types.length,
    description: 'The parts of the message, each type at most once; all but the body may be left out.',
  })
}

/** Either case. */
const parameterFormatSchema = Type.Enum([...parameterFormats, 'positional', 'named'], {
  description: 'Whether placeholders are numbers, {{1}}, or names, {{first_name}}; POSITIONAL when left out.',
})
const categorySchema = Type.Enum(templateCategories, {
  description: 'What its messages are for: it decides their price and when they may be sent.',
})

export const lifeSchema = Type.Integer({
  minimum: -1,
  maximum: 2_592_000,
  description:
    'How many seconds a message is tried to be delivered for: AUTHENTICATION 30 to 900, UTILITY 30 to 43200, MARKETING 43200 to 2592000; -1 stands for 2592000.',
})

const newMembers = {
  name: templateNameSchema,
  language: templateLanguageSchema,
  category: categorySchema,
}
const otherMembers = {
  parameter_format: Type.Optional(parameterFormatSchema),
  message_send_ttl_seconds: Type.Optional(lifeSchema),
}

const newTemplateSchema = Type.Object({
  ...newMembers,
  components: makeComponentsSchema(false),
  ...otherMembers,
  library_template_name: Type.Optional(idSchema({ description: 'Not offered.', [refusedKeyword]: true })),
})

/** The sentences that a template of the library may have more in its body, for who asks for them. */
const bodyInputs = ['add_contact_number', 'add_learn_more_link', 'add_track_package_link'] as const
export type BodyInput = (typeof bodyInputs)[number]

const buttonInput = Type.Object({
  type: Type.String({ maxLength: 100, description: 'URL or PHONE_NUMBER, in either case.' }),
  url: Type.Optional(
    Type.Object({
      base_url: Type.Optional(
        Type.String({ maxLength: 4000, description: 'The URL, with one variable at its end at the most.' }),
      ),
      url_suffix_example: Type.Optional(
        Type.String({ maxLength: 4000, description: 'The whole URL with something in the place of its variable.' }),
      ),
    }),
  ),
  phone_number: Type.Optional(
    Type.String({ maxLength: 100, description: 'The number that is called, in international format.' }),
  ),
})

const publicNewTemplateSchema = Type.Object({
  ...newMembers,
  components: Type.Optional(makeComponentsSchema(true)),
  ...otherMembers,
  library_template_name: Type.Optional(
    idSchema({ description: 'The template of the library whose components it takes, instead of `components`.' }),
  ),
  library_template_body_inputs: Type.Optional(
    Type.Object(Object.fromEntries(bodyInputs.map((name) => [name, Type.Optional(Type.Boolean())])), {
      additionalProperties: true,
      description: 'Which sentences are added to the body of the template of the library.',
    }),
  ),
  library_template_button_inputs: Type.Optional(
    Type.Array(buttonInput, {
      maxItems: 10,
      description: 'Where the buttons of the template of the library lead to, in their order.',
    }),
  ),
})
export type NewTemplate = Static<typeof publicNewTemplateSchema>

export function makeNewTemplateSchema(hasPublicForms: boolean): typeof publicNewTemplateSchema {
  return hasPublicForms ? publicNewTemplateSchema : (newTemplateSchema as unknown as typeof publicNewTemplateSchema)
}

export const createdTemplateSchema = Type.Object({
  id: Type.String(),
  status: Type.Enum(templateStatuses),
  category: Type.Enum(templateCategories),
})

const editMembers = {
  category: Type.Optional(categorySchema),
  parameter_format: Type.Optional(parameterFormatSchema),
  message_send_ttl_seconds: Type.Optional(lifeSchema),
  name: Type.Optional(idSchema({ description: 'Only the one that it has.' })),
  language: Type.Optional(idSchema({ description: 'Only the one that it has.' })),
}

export function makeTemplateEditSchema(hasPublicForms: boolean) {
  return Type.Object({ components: Type.Optional(makeComponentsSchema(hasPublicForms)), ...editMembers })
}
export type TemplateEdit = Static<ReturnType<typeof makeTemplateEditSchema>>

export const templateDeletionSchema = Type.Object({
  name: idSchema({ description: 'Every language of this name is deleted, unless hsm_id names one.' }),
  hsm_id: Type.Optional(idSchema({ description: 'The id of the one template of that name to delete.' })),
})

const namedExamples = Type.Optional(Type.Array(Type.Object({ param_name: Type.String(), example: Type.String() })))

const ownButtons = ['QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE', 'FLOW', 'CATALOG', 'MPM', 'OTP'] as const
const publicButtons = [...ownButtons, 'VOICE_CALL'] as const

const shownButtonMembers = {
  text: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  phone_number: Type.Optional(Type.String()),
  example: Type.Optional(Type.Array(Type.String())),
  flow_id: Type.Optional(Type.String()),
  flow_name: Type.Optional(Type.String()),
  flow_json: Type.Optional(Type.String()),
  flow_action: Type.Optional(Type.String()),
  navigate_screen: Type.Optional(Type.String()),
  otp_type: Type.Optional(Type.Enum(['COPY_CODE', 'ONE_TAP', 'ZERO_TAP'])),
  autofill_text: Type.Optional(Type.String()),
  zero_tap_terms_accepted: Type.Optional(Type.Boolean()),
  supported_apps: Type.Optional(
    Type.Array(Type.Object({ package_name: Type.String(), signature_hash: Type.String() })),
  ),
}

const shownText = {
  format: Type.Optional(Type.Enum(['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'])),
  text: Type.Optional(Type.String()),
  example: Type.Optional(
    Type.Object({
      header_text: Type.Optional(Type.Array(Type.String())),
      header_handle: Type.Optional(
        Type.Array(Type.String({ format: 'uri', description: 'An address of the file, good for a few minutes.' })),
      ),
      header_text_named_params: namedExamples,
      body_text: Type.Optional(Type.Array(Type.Array(Type.String()))),
      body_text_named_params: namedExamples,
    }),
  ),
}
const shownAuthentication = {
  add_security_recommendation: Type.Optional(Type.Boolean()),
  code_expiration_minutes: Type.Optional(Type.Integer()),
}

/** A component as it is read back. */
function makeShownComponent(hasPublicForms: boolean) {
  const type = Type.Enum<(typeof publicButtons)[number][]>([...(hasPublicForms ? publicButtons : ownButtons)])
  const buttons = Type.Optional(Type.Array(Type.Object({ type, ...shownButtonMembers })))
  if (!hasPublicForms) {
    return Type.Object({ type: Type.Enum(ownTypes), ...shownText, buttons, ...shownAuthentication })
  }
  const ofCard = Type.Object({ type: Type.Enum(['HEADER', 'BODY', 'BUTTONS']), ...shownText, buttons })
  return Type.Object({
    type: Type.Enum(publicTypes),
    ...shownText,
    buttons,
    ...shownAuthentication,
    cards: Type.Optional(Type.Array(Type.Object({ components: Type.Array(ofCard) }))),
    limited_time_offer: Type.Optional(
      Type.Object({ text: Type.String(), has_expiration: Type.Optional(Type.Boolean()) }),
    ),
  })
}

/** Any member may be left out by `fields`. */
const makeTemplateMembers = (hasPublicForms: boolean) => ({
  id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  language: Type.Optional(Type.String()),
  category: Type.Optional(Type.Enum(templateCategories)),
  previous_category: Type.Optional(Type.Enum(templateCategories)),
  status: Type.Optional(Type.Enum(templateStatuses)),
  components: Type.Optional(Type.Array(makeShownComponent(hasPublicForms))),
  parameter_format: Type.Optional(Type.Enum(parameterFormats)),
  message_send_ttl_seconds: Type.Optional(Type.Integer()),
  quality_score: Type.Optional(
    Type.Object({ score: Type.Enum(qualityScores), date: Type.String({ format: 'date-time' }) }),
  ),
  rejected_reason: Type.Optional(Type.Enum(['NONE', ...rejectionReasons])),
  created_time: Type.Optional(Type.String({ format: 'date-time' })),
  last_updated_time: Type.Optional(Type.String({ format: 'date-time' })),
})
export const makeTemplateSchema = (hasPublicForms: boolean) => Type.Object(makeTemplateMembers(hasPublicForms))
export const templateFields = Object.keys(makeTemplateMembers(false))

const summaryMembers = {
  total_count: Type.Optional(Type.Integer({ description: 'The templates of the list, with its filters.' })),
  message_template_count: Type.Optional(Type.Integer({ description: 'The names that the account uses.' })),
  message_template_limit: Type.Optional(Type.Integer({ description: 'The names that the account may use.' })),
  are_translations_complete: Type.Optional(Type.Boolean()),
}
export const summaryNames = Object.keys(summaryMembers)

export function makeTemplateListSchema(hasPublicForms: boolean) {
  return Type.Object({
    data: Type.Array(makeTemplateSchema(hasPublicForms)),
    paging: pagingSchema,
    summary: Type.Optional(Type.Object(summaryMembers)),
  })
}

/** One value, or a JSON array of several. */
function choiceSchema(values: readonly string[]) {
  const shown = values.length > 10 ? '' : `: ${values.join(', ')}`
  return Type.Optional(Type.String({ maxLength: 4000, description: `One value, or a JSON array of several${shown}.` }))
}

export const templateQuerySchema = Type.Object({
  name: Type.Optional(idSchema({ description: 'Exactly this name.' })),
  name_or_content: Type.Optional(idSchema({ description: 'A part of the name or of the body, in either case.' })),
  status: choiceSchema(templateStatuses),
  category: choiceSchema(templateCategories),
  language: choiceSchema(templateLanguages),
  quality_score: choiceSchema(qualityScores),
  summary: Type.Optional(
    Type.String({ maxLength: 200, description: `Names separated by commas, of: ${summaryNames.join(', ')}.` }),
  ),
})
export type TemplateQuery = Static<typeof templateQuerySchema>

export function makeGatewayTemplateListSchema(hasPublicForms: boolean) {
  return Type.Object({
    data: Type.Array(Type.Object({ ...makeTemplateMembers(hasPublicForms), account_id: Type.String() })),
    paging: pagingSchema,
  })
}

export const reviewSchema = Type.Object({
  template_id: idSchema({ description: 'The id of the template.' }),
  status: Type.Optional(Type.Enum(templateStatuses, { description: 'The outcome of the review.' })),
  reason: Type.Optional(Type.Enum(rejectionReasons, { description: 'Why it is rejected; only with status REJECTED.' })),
  quality_score: Type.Optional(Type.Enum(qualityScores, { description: 'How its messages are received.' })),
  category: Type.Optional(Type.Enum(templateCategories, { description: 'For every language of the name.' })),
})
