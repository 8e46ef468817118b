/**
 * Members, by operation, that clients of the public platform send as empty texts when they have nothing to say: its document sets no
 * least length for them. A member that an empty text clears or removes is not one of these.
 */
export const emptyMembers: Readonly<Record<string, readonly string[]>> = {
  'account.update': ['timezone_id'],
  'compliance.set': ['entity_type_custom'],
  'messages.send': [
    'interactive.header.text',
    'interactive.action.sections[].title',
    'interactive.action.parameters.flow_id',
    'interactive.action.parameters.flow_name',
  ],
  'phone_numbers.update_settings': ['username', 'webhook_configuration.verify_token', 'whatsapp_business_api_data.pin'],
  'schedules.create': ['timezone'],
  'templates.edit': ['category', 'language', 'name'],
  'webhooks.link_app': ['override_callback_uri', 'verify_token'],
}
