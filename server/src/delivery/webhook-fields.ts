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
] as const

/** The `object` of a subscription as it is stored, whatever the vocabulary writes. */
export const accountObject = 'msgapp_business_account'
