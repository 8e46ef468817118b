/** The kinds of event that an app can subscribe to. */
export const webhookFields = [
  'messages',
  'calls',
  'group_lifecycle_update',
  'group_participants_update',
  'group_settings_update',
  'group_status_update',
  'account_update',
  'phone_number_name_update',
  'phone_number_quality_update',
  'message_template_status_update',
  'message_template_quality_update',
  'template_category_update',
  'user_preferences',
] as const

/** Fields whose `entry[]` also says when it happened. */
export const timedFields: readonly string[] = [
  'message_template_status_update',
  'message_template_quality_update',
  'template_category_update',
]

/** The `object` of a subscription as it is stored, whatever the vocabulary writes. */
export const accountObject = 'msgapp_business_account'
