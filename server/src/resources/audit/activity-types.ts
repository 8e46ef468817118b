/** Every type of activity in the public document, and the operations that are of it. */
const operationsByType = {
  ACCOUNT_CREATED: ['sign_up.add_account'],
  ACCOUNT_UPDATED: [
    'account.update',
    'bot.set_automation',
    'calls.act',
    'groups.approve_join_requests',
    'groups.create',
    'groups.create_invite_link',
    'groups.delete',
    'groups.delete_invite_link',
    'groups.reject_join_requests',
    'groups.remove_participants',
    'media.delete',
    'media.upload',
    'messages.block_users',
    'messages.send',
    'messages.unblock_users',
    'operator.apply_world',
    'phone_numbers.request_code',
    'phone_numbers.update_settings',
    'profile.update',
    'qr_codes.delete',
    'qr_codes.save',
    'qr_codes.update',
    'schedules.create',
    'sign_up.choose_account',
    'sign_up.choose_number',
    'sign_up.decline',
    'sign_up.send_code',
    'solutions.create',
    'uploads.append',
    'uploads.create',
  ],
  ACCOUNT_DELETED: [],
  PHONE_NUMBER_ADDED: ['phone_numbers.create', 'phone_numbers.register', 'sign_up.add_number'],
  PHONE_NUMBER_REMOVED: ['phone_numbers.deregister'],
  PHONE_NUMBER_VERIFIED: ['phone_numbers.verify_code', 'sign_up.verify_number'],
  USER_ADDED: [],
  USER_REMOVED: [],
  USER_ROLE_CHANGED: [],
  PERMISSION_GRANTED: ['onboarding.request', 'operator.set_onbehalf_request', 'sign_up.agree', 'solutions.accept'],
  PERMISSION_REVOKED: ['operator.end_connection', 'solutions.reject'],
  TEMPLATE_CREATED: ['templates.create'],
  TEMPLATE_UPDATED: ['templates.edit'],
  TEMPLATE_DELETED: ['templates.delete', 'templates.delete_by_name'],
  WEBHOOK_CONFIGURED: [
    'operator.act_on_lane',
    'operator.replay_deliveries',
    'operator.stop_replay',
    'webhooks.link_app',
    'webhooks.subscribe',
    'webhooks.unlink_app',
    'webhooks.unsubscribe',
  ],
  API_ACCESS_GRANTED: ['operator.create_token', 'sign_up.exchange'],
  API_ACCESS_REVOKED: ['operator.revoke_token'],
  BILLING_UPDATED: [],
  COMPLIANCE_ACTION: ['compliance.set'],
  SECURITY_EVENT: [
    'encryption.upload',
    'operator.create_user_link',
    'operator.rotate_app_secret',
    'operator.update_app',
  ],
} as const satisfies Record<string, readonly string[]>

export type ActivityType = keyof typeof operationsByType
export const activityTypes = Object.keys(operationsByType) as ActivityType[]

/** The type of operations that are not in the table: records of an operation that was removed since stay. */
const usualType: ActivityType = 'ACCOUNT_UPDATED'

const typesByOperation: ReadonlyMap<string, ActivityType> = new Map(
  activityTypes.flatMap((type) => operationsByType[type].map((operation) => [operation, type] as const)),
)

export function hasActivityType(operation: string): boolean {
  return typesByOperation.has(operation)
}

export function activityTypeOf(operation: string): ActivityType {
  return typesByOperation.get(operation) ?? usualType
}

/** The operations of a type; those of all other types where it is the usual one, which also has what is not in the table. */
export function operationsOf(type: ActivityType): {
  readonly operations: readonly string[]
  readonly excluded: boolean
} {
  if (type !== usualType) return { operations: operationsByType[type], excluded: false }
  const others = [...typesByOperation].flatMap(([operation, other]) => (other === usualType ? [] : [operation]))
  return { operations: others, excluded: true }
}
