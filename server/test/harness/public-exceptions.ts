/** A place where responses differ from the public document. */
export interface PublicException {
  /** The name of the row. */
  readonly operation: string
  /** The member, from the top of the body: `data[].status`. */
  readonly member: string
  /** It is there and the document does not name it, it is left out and the document requires it, or its value is another one. */
  readonly is: 'unnamed' | 'left out' | 'different'
  readonly reason: string
}

function list(
  operation: string,
  is: PublicException['is'],
  members: readonly string[],
  reason: string,
): PublicException[] {
  return members.map((member) => ({ operation, member, is, reason }))
}

const fieldOfLibraries = 'a field that libraries of the public platform ask for, which its document leaves out'
const alsoOfSpecification = 'the specification has it, and libraries read it'
const formsOfComponents = 'the document names few of the members that components have'
const accountMembers = [
  'message_template_namespace',
  'primary_business_location',
  'owner_business_info',
  'status',
  'health_status',
  'marketing_messages_lite_api_status',
]
const codeOfAnyDigits = 'a world file may give a code any digits'
const profileMembers = [
  'messaging_product',
  'about',
  'address',
  'description',
  'email',
  'profile_picture_url',
  'websites',
  'vertical',
]
const templateMembers = [
  'previous_category',
  'parameter_format',
  'message_send_ttl_seconds',
  'quality_score',
  'rejected_reason',
  'created_time',
  'last_updated_time',
]
const numberMembers = [
  'platform_type',
  'throughput',
  'quality_score',
  'new_name_status',
  'last_onboarded_time',
  'search_visibility',
  'is_on_biz_app',
  'is_preverified_number',
  'health_status',
]

/** Known differences between our responses in the second vocabulary and the public document. */
export const publicExceptions: readonly PublicException[] = [
  ...list('account.read', 'unnamed', accountMembers, fieldOfLibraries),
  ...['account.list_owned', 'account.list_client'].flatMap((name) =>
    list(
      name,
      'unnamed',
      accountMembers.map((member) => `data[].${member}`),
      fieldOfLibraries,
    ),
  ),
  ...list(
    'compliance.read',
    'different',
    ['data[].grievance_officer_details.mobile_number', 'data[].customer_care_details.landline_number'],
    'the pattern of the document has doubled backslashes, so that no number fits it',
  ),
  ...list(
    'groups.delete',
    'unnamed',
    ['messaging_product', 'request_id'],
    'the event of the deletion has the same id, as those of other changes of a group do',
  ),
  ...list('media.read', 'different', ['file_size'], 'the specification shows a number'),
  ...list(
    'messages.block_users',
    'unnamed',
    ['block_users.failed_users'],
    'it says who was not blocked, and why; libraries read it',
  ),
  ...list('messages.send', 'unnamed', ['success'], 'the response to a message that is marked as read'),
  ...list('messages.send', 'unnamed', ['messages[].group_id'], 'the specification has it for messages to a group'),
  ...list('messages.send', 'unnamed', ['contacts[].user_id'], 'ids of users in a business are newer than the document'),
  ...list(
    'phone_numbers.list',
    'different',
    ['data[].status', 'data[].code_verification_status', 'data[].quality_rating'],
    'the specification shows CONNECTED, NOT_VERIFIED and UNKNOWN in lists',
  ),
  ...list(
    'phone_numbers.list',
    'unnamed',
    [...numberMembers, 'name_status'].map((name) => `data[].${name}`),
    fieldOfLibraries,
  ),
  ...list(
    'phone_numbers.read_info',
    'unnamed',
    [
      ...numberMembers,
      'status',
      'account_mode',
      'messaging_limit_tier',
      'is_official_business_account',
      'country_code',
      'country_dial_code',
      'is_pin_enabled',
      'webhook_configuration',
    ],
    fieldOfLibraries,
  ),
  ...list(
    'profile.read',
    'unnamed',
    ['data[].id', ...profileMembers.map((name) => `data[].${name}`), 'data[].business_profile.id'],
    'libraries read a profile where it is listed, without the object around it',
  ),
  ...list('qr_codes.list', 'different', ['data[].code'], codeOfAnyDigits),
  ...list('qr_codes.read', 'unnamed', ['data'], 'the specification has a list of one, and libraries read it'),
  ...list(
    'qr_codes.read',
    'left out',
    ['code', 'prefilled_message', 'deep_link_url'],
    'they are in the list of one, which the specification has',
  ),
  ...list(
    'schedules.list',
    'different',
    ['data[].start_time', 'data[].end_time'],
    'hours and minutes, as they are given; the format of the document has seconds and an offset',
  ),
  ...list(
    'templates.list',
    'unnamed',
    ['summary', ...templateMembers.map((name) => `data[].${name}`)],
    fieldOfLibraries,
  ),
  ...list('templates.read', 'unnamed', templateMembers, fieldOfLibraries),
  ...list('templates.list', 'different', ['data[].components'], formsOfComponents),
  ...list('templates.read', 'different', ['components'], formsOfComponents),
  ...list(
    'webhooks.list_linked_apps',
    'unnamed',
    ['data[].whatsapp_business_api_data', 'data[].override_callback_uri'],
    alsoOfSpecification,
  ),
]
