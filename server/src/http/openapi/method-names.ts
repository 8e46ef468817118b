/** A method for one of the things that a row does: which one is said by a member of its input. */
export interface ActionMethod {
  /** `calls.connect` */
  readonly call: string
  readonly sentence: string
  /** What is sent beside the parameters. */
  readonly fixed: Readonly<Record<string, string>>
  /** Members of the input that are arguments of their own, behind those of the path. */
  readonly args?: readonly string[]
  /** The other members that it takes. */
  readonly takes: readonly string[]
  /** Those of them that it needs, whatever the schema of the row says. */
  readonly needs?: readonly string[]
  /** Of these it needs one. */
  readonly needsOne?: readonly string[]
  /** What its response holds, where that is not all that the row may respond with. */
  readonly gives?: readonly string[]
  /** Values of its parameters, where those of the row's example are for another method. */
  readonly example?: Readonly<Record<string, unknown>>
}

/** The call of a row in the client; or its calls, of which the first that fits is meant; or why there is none. */
export type MethodName = string | readonly ActionMethod[] | { readonly leftOut: string }

const page = { leftOut: 'a page or a file of one, opened in a browser' } as const
const document = { leftOut: 'a document about the API' } as const

const wacid = 'wacid.q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ'
const answer = { sdp_type: 'answer', sdp: 'v=0\r\n…' }
const acting = {
  takes: ['call_id', 'to', 'biz_opaque_callback_data'],
  needsOne: ['call_id', 'to'],
  gives: ['messaging_product', 'success'],
  example: { call_id: wacid },
}

/** `calls.act` */
const calls: readonly ActionMethod[] = [
  {
    call: 'calls.connect',
    sentence: 'Calls a user.',
    fixed: { action: 'connect' },
    takes: ['to', 'session', 'biz_opaque_callback_data'],
    needs: ['to'],
    gives: ['messaging_product', 'calls'],
  },
  {
    ...acting,
    call: 'calls.preAccept',
    sentence: 'Prepares the media of a call of a user before it is accepted, so that no word is lost.',
    fixed: { action: 'pre_accept' },
    takes: ['call_id', 'to', 'session', 'biz_opaque_callback_data'],
    example: { call_id: wacid, session: answer },
  },
  {
    ...acting,
    call: 'calls.accept',
    sentence: 'Accepts a call of a user.',
    fixed: { action: 'accept' },
    takes: ['call_id', 'to', 'session', 'biz_opaque_callback_data'],
    example: { call_id: wacid, session: answer },
  },
  { ...acting, call: 'calls.reject', sentence: 'Rejects a call of a user.', fixed: { action: 'reject' } },
  {
    ...acting,
    call: 'calls.terminate',
    sentence: 'Ends a call, whoever began it.',
    fixed: { action: 'terminate' },
    gives: ['success'],
  },
]

/** `gateway.act_on_message` */
const phoneMessages: readonly ActionMethod[] = [
  {
    call: 'gateway.messages.deliver',
    sentence: "Reports that a message has reached the user's phone.",
    fixed: { action: 'deliver' },
    takes: ['user_wa_id'],
    gives: ['success'],
    example: {},
  },
  {
    call: 'gateway.messages.markAsRead',
    sentence: 'Reports that the user has read a message.',
    fixed: { action: 'read' },
    takes: ['user_wa_id'],
    gives: ['success'],
  },
  {
    call: 'gateway.messages.play',
    sentence: 'Reports that the user has listened to a voice message.',
    fixed: { action: 'play' },
    takes: ['user_wa_id'],
    gives: ['success'],
    example: {},
  },
  {
    call: 'gateway.messages.fail',
    sentence: 'Lets the delivery of a message fail.',
    fixed: { action: 'fail' },
    takes: ['user_wa_id', 'code'],
    gives: ['success'],
    example: { code: 131026 },
  },
  {
    call: 'gateway.messages.delete',
    sentence: 'Deletes a message that the user wrote.',
    fixed: { action: 'delete' },
    takes: [],
    gives: ['success'],
    example: {},
  },
  {
    call: 'gateway.messages.press',
    sentence: 'Takes a button or a row of a message; the response has the id of the message that this sends.',
    fixed: { action: 'press' },
    takes: ['user_wa_id', 'choice', 'card', 'data'],
    gives: ['success', 'message_id'],
    example: { choice: 'yes' },
  },
]

/** `gateway.act_on_call` */
const phoneCalls: readonly ActionMethod[] = [
  {
    call: 'gateway.calls.ring',
    sentence: "Reports that the user's phone rings.",
    fixed: { action: 'ringing' },
    takes: [],
    example: {},
  },
  {
    call: 'gateway.calls.accept',
    sentence: 'Lets the user accept a call of a business.',
    fixed: { action: 'accept' },
    takes: ['session'],
    example: { session: answer },
  },
  {
    call: 'gateway.calls.reject',
    sentence: 'Lets the user reject a call of a business.',
    fixed: { action: 'reject' },
    takes: [],
    example: {},
  },
  {
    call: 'gateway.calls.terminate',
    sentence: 'Lets the user end a call, whoever began it.',
    fixed: { action: 'terminate' },
    takes: ['reason'],
    example: {},
  },
]

const messages: readonly ActionMethod[] = [
  {
    call: 'messages.markAsRead',
    sentence: 'Marks a message that came in, and those before it, as read.',
    fixed: { status: 'read' },
    args: ['message_id'],
    takes: ['typing_indicator'],
    gives: ['success'],
    example: { message_id: 'wamid.…', typing_indicator: { type: 'text' } },
  },
  {
    call: 'messages.send',
    sentence: 'Sends a message to a user or a group.',
    fixed: {},
    takes: [],
    gives: ['messaging_product', 'contacts', 'messages'],
  },
]

const lanes: readonly ActionMethod[] = [
  {
    call: 'operator.lanes.pause',
    sentence: 'Pauses a subscriber, so that its deliveries wait.',
    fixed: { action: 'pause' },
    takes: ['for'],
  },
  {
    call: 'operator.lanes.resume',
    sentence: 'Resumes a subscriber: its deliveries go on.',
    fixed: { action: 'resume' },
    takes: [],
    example: {},
  },
]

const qrCodes: readonly ActionMethod[] = [
  {
    call: 'qrCodes.update',
    sentence: 'Changes the message of a QR code.',
    fixed: {},
    args: ['code'],
    takes: ['prefilled_message', 'generate_qr_image'],
    example: { code: 'ANED2T5QRU7HG1', prefilled_message: 'Hello!' },
  },
  {
    call: 'qrCodes.create',
    sentence: 'Creates a QR code with a message.',
    fixed: {},
    takes: ['prefilled_message', 'generate_qr_image'],
  },
]

/** `sign_up.exchange` */
const exchanges: readonly ActionMethod[] = [
  {
    call: 'oauth.createAppToken',
    sentence: 'Gives the token with which an app acts for itself.',
    fixed: { grant_type: 'client_credentials' },
    takes: ['client_id', 'client_secret'],
    gives: ['access_token', 'token_type'],
  },
  {
    call: 'oauth.exchangeToken',
    sentence: 'Exchanges a token of an app for one that may do the same and ends after a while.',
    fixed: { grant_type: 'fb_exchange_token' },
    takes: ['client_id', 'client_secret', 'fb_exchange_token'],
    needs: ['fb_exchange_token'],
    gives: ['access_token', 'token_type', 'expires_in'],
    example: { client_id: '3000000000000001', client_secret: 'shrub-app-secret', fb_exchange_token: 'demo-token' },
  },
  {
    call: 'oauth.exchangeCode',
    sentence: 'Exchanges the code of a sign-up for a token, once.',
    fixed: {},
    takes: ['client_id', 'client_secret', 'code', 'redirect_uri', 'code_verifier'],
    needs: ['code'],
    example: {
      client_id: '3000000000000001',
      client_secret: 'shrub-app-secret',
      code: '…',
      redirect_uri: 'http://127.0.0.1:9000/connected',
      code_verifier: '…',
    },
  },
]

/**
 * The names of the client's methods: list, retrieve, create, update and delete where a row does that, otherwise a verb of its subject.
 * The business is on the client itself; the gateway, operators and the sandbox stand beside it. A test checks that every row has its line.
 */
export const methodNames: Readonly<Record<string, MethodName>> = {
  'messages.send': messages,
  'messages.list_blocked_users': 'blockedUsers.list',
  'messages.block_users': 'blockedUsers.add',
  'messages.unblock_users': 'blockedUsers.remove',

  'templates.list': 'templates.list',
  'templates.read': 'templates.retrieve',
  'templates.create': 'templates.create',
  'templates.edit': 'templates.update',
  'templates.delete': 'templates.delete',
  'templates.delete_by_name': 'templates.deleteByName',
  'templates.download': 'templates.download',
  'templates.download_card': 'templates.downloadCard',

  'media.upload': 'media.upload',
  'media.read': 'media.retrieve',
  'media.delete': 'media.delete',
  'media.download': 'media.download',
  'uploads.create': 'uploads.create',
  'uploads.read': 'uploads.retrieve',
  'uploads.append': 'uploads.append',

  'calls.act': calls,
  'calls.read_permission': 'callPermissions.retrieve',

  'groups.list': 'groups.list',
  'groups.read': 'groups.retrieve',
  'groups.create': 'groups.create',
  'groups.delete': 'groups.delete',
  'groups.create_invite_link': 'groups.inviteLink.create',
  'groups.read_invite_link': 'groups.inviteLink.retrieve',
  'groups.delete_invite_link': 'groups.inviteLink.delete',
  'groups.list_join_requests': 'groups.joinRequests.list',
  'groups.approve_join_requests': 'groups.joinRequests.approve',
  'groups.reject_join_requests': 'groups.joinRequests.reject',
  'groups.remove_participants': 'groups.participants.remove',

  'phone_numbers.list': 'phoneNumbers.list',
  'phone_numbers.read_info': 'phoneNumbers.retrieve',
  'phone_numbers.create': 'phoneNumbers.create',
  'phone_numbers.update_settings': 'phoneNumbers.update',
  'phone_numbers.request_code': 'phoneNumbers.requestCode',
  'phone_numbers.verify_code': 'phoneNumbers.verifyCode',
  'phone_numbers.register': 'phoneNumbers.register',
  'phone_numbers.deregister': 'phoneNumbers.deregister',
  'phone_numbers.read_account_number': 'accountNumbers.retrieve',
  'profile.read': 'businessProfiles.retrieve',
  'profile.update': 'businessProfiles.update',
  'encryption.read': 'encryptionKeys.retrieve',
  'encryption.upload': 'encryptionKeys.update',
  'compliance.read': 'compliance.retrieve',
  'compliance.set': 'compliance.update',
  'bot.read': 'bots.retrieve',
  'bot.read_automation': 'conversationalAutomation.retrieve',
  'bot.set_automation': 'conversationalAutomation.update',
  'qr_codes.list': 'qrCodes.list',
  'qr_codes.read': 'qrCodes.retrieve',
  'qr_codes.save': qrCodes,
  'qr_codes.update': { leftOut: 'the same as qr_codes.save with a code, which both vocabularies have' },
  'qr_codes.delete': 'qrCodes.delete',

  'account.read': 'accounts.retrieve',
  'account.update': 'accounts.update',
  'account.list_owned': 'accounts.listOwned',
  'account.list_client': 'accounts.listClient',
  'audit.list_activities': 'activities.list',
  'schedules.list': 'schedules.list',
  'schedules.create': 'schedules.create',
  'tokens.read_me': 'me.retrieve',
  'tokens.take_back_all': 'me.deletePermissions',
  'tokens.take_back': 'me.deletePermission',
  'tokens.debug': 'tokens.debug',
  'portfolio.read_business': 'businesses.retrieve',
  'portfolio.list_extended_credits': 'businesses.listExtendedCredits',
  'portfolio.list_client_businesses': 'businesses.listClients',
  'onbehalf.list': 'onbehalfRequests.list',
  'portfolio.read_migration_intent': 'migrationIntents.retrieve',
  'onboarding.request': 'onboarding.request',
  'solutions.list': 'solutions.list',
  'solutions.list_of_account': 'solutions.listOfAccount',
  'solutions.read': 'solutions.retrieve',
  'solutions.create': 'solutions.create',
  'solutions.accept': 'solutions.accept',
  'solutions.reject': 'solutions.reject',

  'webhooks.list_subscriptions': 'webhooks.subscriptions.list',
  'webhooks.subscribe': 'webhooks.subscriptions.create',
  'webhooks.unsubscribe': 'webhooks.subscriptions.delete',
  'webhooks.list_linked_apps': 'webhooks.linkedApps.list',
  'webhooks.link_app': 'webhooks.linkedApps.create',
  'webhooks.unlink_app': 'webhooks.linkedApps.delete',

  'sign_up.open_dialog': { leftOut: 'a page, opened in a browser at the address that `oauth.signUpUrl` writes' },
  'sign_up.show_step': page,
  'sign_up.choose_person': page,
  'sign_up.introduce_person': page,
  'sign_up.sign_in': page,
  'sign_up.begin_at_issuer': page,
  'sign_up.choose_business': page,
  'sign_up.add_business': page,
  'sign_up.choose_account': page,
  'sign_up.add_account': page,
  'sign_up.choose_number': page,
  'sign_up.add_number': page,
  'sign_up.send_code': page,
  'sign_up.verify_number': page,
  'sign_up.agree': page,
  'sign_up.decline': page,
  'sign_up.exchange': exchanges,
  'sign_up.exchange_by_query': { leftOut: 'the same as sign_up.exchange, with secrets in an address' },

  'gateway.stream': 'gateway.stream',
  'gateway.wait': 'gateway.messages.wait',
  'gateway.list_users': 'gateway.users.list',
  'gateway.read_user': 'gateway.users.retrieve',
  'gateway.set_user': 'gateway.users.update',
  'gateway.list_chats': 'gateway.chats.list',
  'gateway.set_chat': 'gateway.chats.update',
  'gateway.list_messages': 'gateway.messages.list',
  'gateway.read_message': 'gateway.messages.retrieve',
  'gateway.write_message': 'gateway.messages.write',
  'gateway.act_on_message': phoneMessages,
  'gateway.upload_media': 'gateway.media.upload',
  'gateway.download_file': 'gateway.media.download',
  'gateway.list_calls': 'gateway.calls.list',
  'gateway.read_call': 'gateway.calls.retrieve',
  'gateway.start_call': 'gateway.calls.start',
  'gateway.act_on_call': phoneCalls,
  'gateway.set_call_permission': 'gateway.callPermissions.update',
  'gateway.join_group': 'gateway.groups.join',
  'gateway.list_templates': 'gateway.templates.list',
  'gateway.review_template': 'gateway.templates.review',
  'gateway.list_numbers': 'gateway.phoneNumbers.list',
  'gateway.read_number': 'gateway.phoneNumbers.retrieve',
  'gateway.read_outbox': 'gateway.outbox.retrieve',
  'receiver.handshake': 'gateway.inboundEvents.handshake',
  'receiver.post': 'gateway.inboundEvents.post',

  'operator.find': 'operator.find',
  'operator.why': 'operator.why',
  'operator.read_state': 'operator.state.retrieve',
  'operators.healthz': 'operator.health',
  'operators.readyz': 'operator.readiness',
  'operators.readyz_process': 'operator.processReadiness',
  'operators.metrics': 'operator.metrics',
  'operator.list_nodes': 'operator.nodes.list',
  'operator.list_tokens': 'operator.tokens.list',
  'operator.create_token': 'operator.tokens.create',
  'operator.revoke_token': 'operator.tokens.revoke',
  'operator.read_app_secret': 'operator.appSecrets.retrieve',
  'operator.rotate_app_secret': 'operator.appSecrets.rotate',
  'operator.list_onbehalf_requests': 'operator.onbehalfRequests.list',
  'operator.set_onbehalf_request': 'operator.onbehalfRequests.update',
  'operator.list_connections': 'operator.connections.list',
  'operator.end_connection': 'operator.connections.end',
  'operator.read_app': 'operator.apps.retrieve',
  'operator.update_app': 'operator.apps.update',
  'operator.list_business_users': 'operator.businessUsers.list',
  'operator.create_user_link': 'operator.businessUsers.createLink',
  'operator.list_deliveries': 'operator.deliveries.list',
  'operator.read_delivery': 'operator.deliveries.retrieve',
  'operator.replay_deliveries': 'operator.deliveries.replay',
  'operator.list_replays': 'operator.replays.list',
  'operator.read_replay': 'operator.replays.retrieve',
  'operator.stop_replay': 'operator.replays.stop',
  'operator.list_lanes': 'operator.lanes.list',
  'operator.act_on_lane': lanes,
  'operator.list_audit': 'operator.audit.list',
  'operator.export_world': 'operator.world.export',
  'operator.apply_world': 'operator.world.apply',
  'operator.list_requests': 'operator.requests.list',
  'operator.read_trace': 'operator.traces.retrieve',
  'operator.list_feed': 'operator.feed.list',
  'operator.stream': 'operator.feed.stream',
  'operator.wait': 'operator.feed.wait',

  'sandbox.reset': 'sandbox.reset',
  'sandbox.read_clock': 'sandbox.clock.retrieve',
  'sandbox.move_clock': 'sandbox.clock.move',
  'sandbox.list_faults': 'sandbox.faults.list',
  'sandbox.replace_faults': 'sandbox.faults.replace',
  'sandbox.list_snapshots': 'sandbox.snapshots.list',
  'sandbox.save_snapshot': 'sandbox.snapshots.create',
  'sandbox.restore_snapshot': 'sandbox.snapshots.restore',
  'sandbox.delete_snapshot': 'sandbox.snapshots.delete',

  'public.start': page,
  'public.live': page,
  'public.trace': page,
  'public.deliveries': page,
  'public.delivery': page,
  'public.search': page,
  'public.connect': page,
  'public.calls': page,
  'public.call': page,
  'public.resources': page,
  'public.resource': page,
  'public.sandbox': page,
  'public.access': page,
  'public.sign_in_page': page,
  'public.console_file': page,
  'public.sign_in': page,
  'public.begin_sign_in': page,
  'public.finish_sign_in': page,
  'public.sign_out': page,
  'public.invite': page,
  'public.message': page,
  'public.picture': page,
  'public.qr_image': page,
  'public.docs': document,
  'public.openapi': document,
  'public.openapi_gateway': document,
  'public.openapi_operator': document,
}
