import type { WebhookField } from '@switchboard/client/methods'

/** What an app can subscribe to, in words. */
export const fieldWords: Readonly<Record<WebhookField, string>> = {
  messages: 'Messages of users, and what became of yours',
  calls: 'Calls',
  group_lifecycle_update: 'Groups that are created or deleted',
  group_participants_update: 'Users who join or leave a group',
  group_settings_update: 'Settings of groups',
  group_status_update: 'The status of groups',
  account_update: 'Changes of accounts',
  phone_number_name_update: 'Reviews of display names',
  phone_number_quality_update: 'Quality and limits of numbers',
  message_template_status_update: 'Reviews of templates',
  message_template_quality_update: 'Quality of templates',
  template_category_update: 'Categories of templates',
  user_preferences: 'Users who stop or resume marketing',
}
