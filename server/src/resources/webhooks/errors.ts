import { defineError, defineProblem } from '../../graph/define-error.ts'

export const neitherMessagesNorStatuses = defineProblem({
  id: 'neither_messages_nor_statuses',
  text: 'it must have messages or statuses.',
})
export const webhookFieldUnknown = defineError({
  id: 'webhook_field_unknown',
  status: 400,
  text: 'fields: {field} is not a field; known: {known}.',
})
export const webhookFieldRequired = defineError({
  id: 'webhook_field_required',
  status: 400,
  text: 'fields: it must name at least one of {known}.',
})
export const webhookFieldsWrong = defineError({
  id: 'webhook_fields_wrong',
  status: 400,
  text: 'fields: it must be an array of names of fields, or these separated by commas.',
})
export const overrideRequired = defineError({
  id: 'override_required',
  status: 400,
  text: 'override_callback_uri: it is required with verify_token; or leave out both.',
})
export const verifyTokenRequired = defineError({
  id: 'verify_token_required',
  status: 400,
  text: 'verify_token: it is required with override_callback_uri.',
})
export const subscriptionOfAllAccounts = defineError({
  id: 'subscription_of_all_accounts',
  status: 403,
  text: 'A subscription is about all accounts of an app; use a token that is not limited to some accounts.',
})
export const subscriptionOfAnother = defineError({
  id: 'subscription_of_another',
  status: 403,
  text: 'An app sees and sets only its own subscriptions; use a token of the application in the path.',
})
export const onlyOwnerUnlinks = defineError({
  id: 'only_owner_unlinks',
  status: 403,
  text: "Only the business that owns the account unlinks another's app; leave out app_id to unlink the token's own app.",
})
