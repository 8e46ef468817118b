import type { Generated } from 'kysely'
import type { Json } from './codecs.ts'

declare const sealedMark: unique symbol

/** A secret as stored: unreadable without a key. Only `openSecret` opens it. */
export interface Sealed {
  readonly [sealedMark]: true
}

/** The tables as queries see them: one interface per table, in the order of the migrations. */
export interface Tables {
  nodes: NodesTable
  businesses: BusinessesTable
  extended_credits: ExtendedCreditsTable
  apps: AppsTable
  app_subscriptions: AppSubscriptionsTable
  tokens: TokensTable
  console_links: ConsoleLinksTable
  service_secrets: ServiceSecretsTable
  listeners: ListenersTable
  accounts: AccountsTable
  account_access: AccountAccessTable
  business_users: BusinessUsersTable
  connections: ConnectionsTable
  sign_up_codes: SignUpCodesTable
  business_user_links: BusinessUserLinksTable
  onbehalf_requests: OnbehalfRequestsTable
  subscribed_apps: SubscribedAppsTable
  migration_intents: MigrationIntentsTable
  bots: BotsTable
  schedules: SchedulesTable
  phone_numbers: PhoneNumbersTable
  business_profiles: BusinessProfilesTable
  compliance_info: ComplianceInfoTable
  qr_codes: QrCodesTable
  groups: GroupsTable
  call_permissions: CallPermissionsTable
  activities: ActivitiesTable
  timers: TimersTable
  schema_migrations: SchemaMigrationsTable
  schema_floor: SchemaFloorTable
  rate_windows: RateWindowsTable
  carrier_messages: CarrierMessagesTable
  files: FilesTable
  file_uses: FileUsesTable
  uploads: UploadsTable
  upload_pieces: UploadPiecesTable
  media: MediaTable
  stored_bytes: StoredBytesTable
  profile_pictures: ProfilePicturesTable
  verification_codes: VerificationCodesTable
  two_step_pins: TwoStepPinsTable
  phone_number_callbacks: PhoneNumberCallbacksTable
  signing_keys: SigningKeysTable
  business_public_keys: BusinessPublicKeysTable
  node_shares: NodeSharesTable
  solutions: SolutionsTable
  solution_apps: SolutionAppsTable
  agreement_requests: AgreementRequestsTable
  mobility_intents: MobilityIntentsTable
  events: EventsTable
  lanes: LanesTable
  lane_wakes: LaneWakesTable
  deliveries: DeliveriesTable
  delivery_attempts: DeliveryAttemptsTable
  replays: ReplaysTable
  received_messages: ReceivedMessagesTable
  received_statuses: ReceivedStatusesTable
  received_posts: ReceivedPostsTable
  calls: CallsTable
  call_permission_requests: CallPermissionRequestsTable
  group_invite_links: GroupInviteLinksTable
  group_participants: GroupParticipantsTable
  group_join_requests: GroupJoinRequestsTable
  sealing_keys: SealingKeysTable
  message_templates: MessageTemplatesTable
  template_names: TemplateNamesTable
  template_edits: TemplateEditsTable
  users: UsersTable
  chats: ChatsTable
  messages: MessagesTable
  message_contents: MessageContentsTable
  message_recipients: MessageRecipientsTable
  blocked_users: BlockedUsersTable
  idempotency_keys: IdempotencyKeysTable
  processes: ProcessesTable
  process_settings: ProcessSettingsTable
  token_notes: TokenNotesTable
  link_fetches: LinkFetchesTable
  fetched_links: FetchedLinksTable
  template_rooms: TemplateRoomsTable
  stream_events: StreamEventsTable
  wanted_streams: WantedStreamsTable
  searchable_names: SearchableNamesTable
  name_words: NameWordsTable
}

interface TokenNotesTable {
  token_id: string
  name: string | null
  created_by: string | null
  last_used_time: number | null
}

export interface NodesTable {
  id: string
  kind: string
  business_id: string
  account_id: string | null
}

interface BusinessesTable {
  id: string
  name: string
  timezone_id: number
  created_time: number
}

interface ExtendedCreditsTable {
  id: string
  business_id: string
  legal_entity_name: string
}

export interface AppsTable {
  id: string
  business_id: string
  name: string
  secret: Sealed
  partner_kind: string | null
  first_party: boolean
  created_time: number
  previous_secret: Sealed | null
  previous_secret_until: number | null
  /** Null: made before that was recorded. */
  secret_time: number | null
  /** Where a browser may be sent back to with a code; null: nowhere. */
  redirect_uris: Json<string[]> | null
  /** Null: false. */
  require_appsecret_proof: boolean | null
}

export interface AppSubscriptionsTable {
  app_id: string
  object: string
  callback_url: string
  verify_token: Sealed
  fields: Json<string[]>
  created_time: number
  /** Null only in a store that was not unlocked since it was migrated. */
  verify_token_hash: string | null
}

export interface TokensTable {
  id: string
  hash: string
  /** Null: a session of the console. */
  app_id: string | null
  scopes: Json<string[]>
  accounts: Json<string[]> | null
  businesses: Json<string[]> | null
  created_time: number
  expires_time: number | null
  revoked_time: number | null
  session_name: string | null
  /** Of a session, and of a token of the service that was made by one: by what it was admitted, if not by a link. */
  session_grant: string | null
  /** The session of the console by which it was made, at first or second hand. */
  made_by: string | null
  /** The person of a business to whom it belongs; null: to nobody. */
  user_id: string | null
  /** The connection that it was given for; null: it stands alone. */
  connection_id: string | null
  /** Whether it is the app's own, made of its id and its secret; null: no. */
  is_of_app: boolean | null
  /** The token that an app exchanged for it, at first hand: it ends with that one; null: for none. */
  exchanged_from: string | null
}

/** A person of a business, who may connect it to apps. */
interface BusinessUsersTable {
  id: string
  business_id: string
  name: string
  email: string
  created_time: number
}

/** A business's account connected to an app. */
export interface ConnectionsTable {
  id: string
  app_id: string
  business_id: string
  account_id: string
  /** The number that was chosen with it; null: none. */
  phone_number_id: string | null
  /** Who agreed. */
  user_id: string
  /** What was agreed to and not taken back. */
  scopes: Json<string[]>
  created_time: number
  /** Null while it lasts. */
  ended_time: number | null
}

/** A code that an app exchanges for a token, once. */
export interface SignUpCodesTable {
  hash: string
  app_id: string
  connection_id: string
  redirect_uri: string
  code_challenge: string | null
  scopes: Json<string[]>
  created_time: number
  expires_time: number
  used_time: number | null
  /** The token that was given for it, which ends when the code comes again. */
  token_id: string | null
}

/** A link by which a person of a business signs in to the dialog of the sign-up, once. */
interface BusinessUserLinksTable {
  hash: string
  user_id: string
  expires_time: number
}

/** A business that asks to act on behalf of an account's owner. */
export interface OnbehalfRequestsTable {
  id: string
  account_id: string
  requesting_business_id: string
  receiving_business_id: string
  status: string
  created_time: number
}

interface ConsoleLinksTable {
  hash: string
  name: string
  /** Not used any more: ''. */
  app_id: string
  accounts: Json<string[]> | null
  businesses: Json<string[]> | null
  expires_time: number
}

interface ServiceSecretsTable {
  name: string
  value: Sealed
}

export interface AccountsTable {
  id: string
  business_id: string
  name: string
  timezone_id: string | null
  message_template_namespace: string | null
  account_review_status: string | null
  business_verification_status: string | null
  country: string | null
  ownership_type: string | null
  primary_business_location: string | null
  small_business: boolean
  created_time: number
}

export interface AccountAccess {
  account_id: string
  business_id: string
  /** `connected`: by a connection to an app of that business. */
  relation: 'owner' | 'shared' | 'on_behalf_of' | 'connected'
}

interface AccountAccessTable extends AccountAccess {
  /** 0: before that was recorded. */
  created_time: number
}

export interface SubscribedAppsTable {
  account_id: string
  app_id: string
  override_callback_uri: string | null
  verify_token: Sealed | null
  created_time: number
}

interface MigrationIntentsTable {
  id: string
  account_id: string
  status: string
}

export interface BotsTable {
  id: string
  account_id: string
  phone_number_id: string | null
  prompts: Json<string[]>
  commands: Json<{ command_name: string; command_description: string }[]>
  enable_welcome_message: boolean
}

export interface SchedulesTable {
  id: string
  account_id: string
  name: string
  status: string
  schedule_type: string
  description: string | null
  start_time: string | null
  end_time: string | null
  timezone: string
  days_of_week: Json<string[]> | null
  is_active: boolean
  recurrence_pattern: Json<{ frequency?: string; interval?: number; end_date?: string }> | null
  created_time: number
  updated_time: number
  expires_time: number | null
}

export interface PhoneNumbersTable {
  id: string
  account_number_id: string
  account_id: string
  phone_number: string
  display_phone_number: string
  country_code: string | null
  country_dial_code: string
  verified_name: string
  link_status: string
  connection_status: string
  registered: boolean
  quality_rating: string
  code_verification_status: string
  name_status: string
  unified_cert_status: string
  account_mode: string
  host_platform: string
  messaging_limit_tier: string
  is_official_business_account: boolean
  username: string | null
  certificate: string | null
  creation_time: number
  last_onboarded_time: number
  registration_epoch: number
  new_display_name: string | null
  search_visibility: string
  show_security_notifications: boolean
  notify_user_change_number: boolean
  calling_enabled: boolean
}

export interface BusinessProfilesTable {
  phone_number_id: string
  about: string | null
  address: string | null
  description: string | null
  email: string | null
  websites: Json<string[]> | null
  vertical: string | null
}

export interface ComplianceInfoTable {
  phone_number_id: string
  entity_name: string
  entity_type: string
  entity_type_custom: string | null
  is_registered: boolean | null
  grievance_officer_details: Json<Record<string, string>>
  customer_care_details: Json<Record<string, string>>
}

export interface QrCodesTable {
  code: string
  phone_number_id: string
  prefilled_message: string
  creation_time: number
}

export interface GroupsTable {
  id: string
  phone_number_id: string
  subject: string
  description: string
  join_approval_mode: string
  created_time: number
}

export interface CallPermissionsTable {
  phone_number_id: string
  user_wa_id: string
  status: string
  expiration_time: number | null
}

export interface ActivitiesTable {
  id: Generated<number>
  time: number
  operation: string
  node_id: string
  node_kind: string
  business_id: string
  account_id: string | null
  actor_app_id: string
  actor_business_id: string
  actor_token_id: string
  remote_address: string
  trace: string
}

interface RateWindowsTable {
  key: string
  taken: number
  end_time: number
}

interface SchemaMigrationsTable {
  name: string
  applied_time: number
}

interface SchemaFloorTable {
  migration: string
}

export interface TimersTable {
  id: string
  kind: string
  due_time: number
  payload: Json<object>
  attempts: number
  leased_until: number
  /** Null: nobody, or a process of an earlier version. */
  lease_owner: Generated<string | null>
  set_time: number
  secret: Sealed | null
  /** Of the request that set it. */
  trace: Generated<string | null>
  /** The span of that request, with its flags. */
  span: Generated<string | null>
}

interface CarrierMessagesTable {
  id: string
  recipient: string
  kind: 'sms' | 'voice'
  code: Sealed
  language: string
  sent_time: number
}

export interface VerificationCodesTable {
  phone_number_id: string
  code_hash: string
  expires_time: number
  carrier_timer_id: string | null
  wrong_tries: number
  first_wrong_time: number
  blocked_until: number
}

interface TwoStepPinsTable {
  phone_number_id: string
  pin_hash: Sealed
}

export interface PhoneNumberCallbacksTable {
  phone_number_id: string
  app_id: string
  override_callback_uri: string | null
  webhook_url: string | null
  /** In front of the other two until it is removed. */
  temporary_callback_uri: string | null
}

export interface SigningKeysTable {
  id: string
  public_key: string
  private_key: Sealed | null
  created_time: number
  retired_time: number | null
}

export interface BusinessPublicKeysTable {
  phone_number_id: string
  business_public_key: string
  registration_epoch: number
  signing_key_id: string
  signature: string
}

interface NodeSharesTable {
  node_id: string
  business_id: string
}

interface SolutionsTable {
  id: string
  name: string
  status: string
  created_time: number
}

interface SolutionAppsTable {
  solution_id: string
  role: 'OWNER' | 'PARTNER'
  app_id: string
  permissions: Json<string[]>
  created_time: number
}

export interface AgreementRequestsTable {
  id: string
  type: string
  status: string
  partner_business_id: string
  partner_app_id: string
  end_business_id: string
  solution_id: string | null
  created_time: number
}

interface MobilityIntentsTable {
  account_id: string
  partner_business_id: string
  request_id: string
  solution_id: string | null
  created_time: number
}

interface EventsTable {
  id: Generated<number>
  account_id: string
  phone_number_id: string | null
  field: string
  value: string
  created_time: number
  /** Of the request that raised it; null for one that no request raised. */
  trace: Generated<string | null>
  /** The span of that request, with its flags. */
  span: Generated<string | null>
  /** The message or call that it is about; null: about neither, or raised by an earlier version. */
  subject_id: Generated<string | null>
}

export interface LanesTable {
  id: string
  app_id: string
  callback_url: string
  leased_until: number
  lease_owner: string | null
  paused_until: number
  failures: number
  next_due: number | null
  /** Until when an operator stopped it; 0 when none did. */
  stopped_until: Generated<number>
}

/** A lane that got a delivery while somebody else had locked its row. */
interface LaneWakesTable {
  id: Generated<number>
  lane_id: string
  app_id: string
  callback_url: string
  due_time: number
}

interface DeliveriesTable {
  id: Generated<number>
  event_id: number
  lane_id: string
  account_id: string
  app_id: string
  field: string
  /** The conversation that orders it: see delivery/raise/conversation.ts. */
  conversation: string
  state: 'waiting' | 'delivered' | 'failed' | 'withdrawn'
  attempts: number
  earlier_attempts: number
  due_time: number
  created_time: number
  started_time: number
  finished_time: number | null
}

export interface DeliveryAttemptsTable {
  delivery_id: number
  number: number
  time: number
  duration: number
  status: number | null
  problem: string | null
  answer: string | null
  /** Null, like the next three, for an attempt of an older version. */
  sent_to: string | null
  /** JSON: the headers that left, by name. */
  sent_headers: string | null
  /** The deliveries of the post in their order, by their ids with commas, when there were several. */
  sent_with: string | null
  /** JSON: the headers of the response, by name. */
  answer_headers: string | null
}

export interface ReplaysTable {
  id: string
  /** `stopped`: by somebody, or because its token was revoked; `failed`: after many failures, with the last as its error. */
  state: 'running' | 'done' | 'stopped' | 'failed'
  filter: object
  sent_to: string | null
  token_id: string | null
  business_id: string | null
  account_id: string | null
  first_id: number
  last_id: number
  reached_id: number
  replayed: number
  /** What could not be sent. */
  left_out: number
  total: number
  error: string | null
  trace: string | null
  created_time: number
  changed_time: number
  finished_time: number | null
}

interface ReceivedMessagesTable {
  phone_number_id: string
  message_id: string
  received_time: number
}

interface ReceivedStatusesTable {
  phone_number_id: string
  digest: string
  received_time: number
}

interface ReceivedPostsTable {
  app_id: string
  digest: string
  received_time: number
}

export interface CallsTable {
  id: string
  phone_number_id: string
  user_wa_id: string
  user_name: string | null
  direction: 'BUSINESS_INITIATED' | 'USER_INITIATED'
  state: 'initiated' | 'ringing' | 'accepted' | 'ended'
  ending: 'completed' | 'rejected' | 'failed' | 'timed_out' | null
  business_session: Json<{ sdp_type: string; sdp: string }> | null
  /** With what the button that the user called with hands on: both are of the user, and go together. */
  user_session: Json<{ sdp_type: string; sdp: string; cta_payload?: string }> | null
  biz_opaque_callback_data: string | null
  ring_timer_id: string | null
  created_time: number
  accepted_time: number | null
  ended_time: number | null
  /** Why the phone or the edge ended it by itself; null: somebody ended it. */
  end_reason: 'no_media' | 'lost' | null
}

interface CallPermissionRequestsTable {
  id: string
  phone_number_id: string
  user_wa_id: string
  sent_time: number
}

export interface FilesTable {
  sha256: string
  size: number
  held_until: number
  place: string
}

interface FileUsesTable {
  sha256: string
  used_by: string
}

interface ListenersTable {
  app_id: string
  record: Sealed
}

export interface UploadsTable {
  id: string
  business_id: string
  file_name: string | null
  file_type: string
  file_length: number
  file_offset: number
  handle: string | null
  sha256: string | null
  expires_time: number
  used_time: number | null
}

export interface UploadPiecesTable {
  upload_id: string
  file_offset: number
  size: number
  name: string
}

export interface MediaTable {
  id: string
  phone_number_id: string
  sha256: string
  mime_type: string
  file_size: number
  expires_time: number
}

interface StoredBytesTable {
  owner_id: string
  bytes: number
}

export interface ProfilePicturesTable {
  phone_number_id: string
  picture_id: string
  sha256: string
  mime_type: string
}

export interface GroupInviteLinksTable {
  group_id: string
  code: string
  created_time: number
}

export interface GroupParticipantsTable {
  group_id: string
  user_wa_id: string
  name: string | null
  joined_time: number
}

export interface GroupJoinRequestsTable {
  id: string
  group_id: string
  user_wa_id: string
  name: string | null
  created_time: number
}

export interface SealingKeysTable {
  id: string
  in_use: boolean
  has_remains: boolean
  created_time: number
}

export interface MessageTemplatesTable {
  id: string
  account_id: string
  name: string
  language: string
  category: 'AUTHENTICATION' | 'MARKETING' | 'UTILITY'
  previous_category: string | null
  status: 'PENDING' | 'APPROVED' | 'REJECTED' | 'PAUSED' | 'DISABLED'
  rejected_reason: string | null
  parameter_format: 'POSITIONAL' | 'NAMED'
  components: Json<TemplateComponent[]>
  content: string
  message_send_ttl_seconds: number
  quality_score: 'UNKNOWN' | 'GREEN' | 'YELLOW' | 'RED'
  quality_time: number
  header_sha256: string | null
  header_type: string | null
  created_time: number
  last_updated_time: number
}

/** A part of a template; which members it has depends on its type. */
export interface TemplateComponent {
  type: 'HEADER' | 'BODY' | 'FOOTER' | 'BUTTONS' | 'CAROUSEL' | 'LIMITED_TIME_OFFER'
  format?: 'TEXT' | 'IMAGE' | 'VIDEO' | 'DOCUMENT' | 'LOCATION'
  text?: string
  example?: TemplateExample
  buttons?: TemplateButton[]
  add_security_recommendation?: boolean
  code_expiration_minutes?: number
  cards?: TemplateCard[]
  limited_time_offer?: { text: string; has_expiration?: boolean }
}

export interface TemplateCard {
  components: TemplateComponent[]
  /** The example of its header, which only the store knows of: shown is an address. */
  file?: { sha256: string; type: string }
}

export interface TemplateExample {
  header_text?: string[]
  header_handle?: string[]
  header_text_named_params?: { param_name: string; example: string }[]
  body_text?: string[][]
  body_text_named_params?: { param_name: string; example: string }[]
}

export interface TemplateButton {
  type: 'QUICK_REPLY' | 'URL' | 'PHONE_NUMBER' | 'COPY_CODE' | 'FLOW' | 'CATALOG' | 'MPM' | 'OTP' | 'VOICE_CALL'
  text?: string
  url?: string
  phone_number?: string
  example?: string[]
  flow_id?: string
  flow_name?: string
  flow_json?: string
  flow_action?: string
  navigate_screen?: string
  otp_type?: 'COPY_CODE' | 'ONE_TAP' | 'ZERO_TAP'
  autofill_text?: string
  zero_tap_terms_accepted?: boolean
  supported_apps?: { package_name: string; signature_hash: string }[]
}

interface TemplateNamesTable {
  account_id: string
  name: string
  was_approved: boolean
  deleted_time: number | null
}

interface TemplateEditsTable {
  id: string
  template_id: string
  edited_time: number
}

export interface UsersTable {
  wa_id: string
  name: string | null
  /** Null: as the setting says. */
  presence: 'online' | 'offline' | null
  auto_read: boolean
  read_receipts: boolean
  reachable: boolean
}

export interface ChatsTable {
  id: string
  phone_number_id: string
  user_wa_id: string | null
  group_id: string | null
  window_time: number | null
  blocked: boolean
  marketing: 'stop' | 'resume'
  typing_until: number
  pair_time: number
  template_time: number | null
  conversations: Json<Record<string, OpenConversation>>
  last_message_id: string | null
  last_time: number
}

export interface OpenConversation {
  id: string
  end_time: number
}

export interface MessagesTable {
  position: Generated<number>
  id: string
  chat_id: string
  phone_number_id: string
  user_wa_id: string | null
  group_id: string | null
  direction: 'to_user' | 'to_business'
  type: string
  is_voice: boolean
  context_id: string | null
  state: 'accepted' | 'sent' | 'delivered' | 'read' | 'played' | 'failed' | 'deleted'
  error_code: number | null
  created_time: number
  sent_time: number | null
  delivered_time: number | null
  read_time: number | null
  played_time: number | null
  /** When it failed or was deleted. */
  ended_time: number | null
  /** When it is dropped unless it was delivered. */
  expires_time: number | null
  pricing: Json<MessagePricing> | null
  /** What a press can choose: kept with the ids, because a press is possible after the content went. */
  choices: Json<object> | null
  biz_opaque_callback_data: string | null
}

export interface MessagePricing {
  conversation_id: string
  end_time: number
  billable: boolean
  category: string
  type: string
}

export interface MessageContentsTable {
  message_id: string
  content: string
  sha256: string | null
  created_time: number
  /** What it is found by; null: not listed yet, because an earlier version stored it. */
  words: Json<string[]> | null
}

export interface MessageRecipientsTable {
  message_id: string
  user_wa_id: string
  state: MessagesTable['state']
  error_code: number | null
  delivered_time: number | null
  read_time: number | null
  played_time: number | null
  ended_time: number | null
}

export interface BlockedUsersTable {
  phone_number_id: string
  user_wa_id: string
  created_time: number
}

export interface IdempotencyKeysTable {
  app_id: string
  phone_number_id: string
  key: string
  digest: string
  /** Null while its request is under way. */
  response: string | null
  created_time: number
}

export interface ProcessesTable {
  id: string
  role: string
  version: string
  started_time: number
  heard_time: number
  /** Milliseconds ahead of the database; null: not compared. */
  clock_offset: number | null
}

interface ProcessSettingsTable {
  process_id: string
  digest: string
  /** A keyed hash of the value, by the name of the setting. */
  hashes: Json<Record<string, string>>
}

export interface LinkFetchesTable {
  message_id: string
  phone_number_id: string
  link: string
  link_key: string
  host: string
  kind: string
  takes: Json<string[]>
  earlier_template_time: number | null
  created_time: number
  claim: string | null
  leased_until: number
  account_id: string
  tries: number
}

interface FetchedLinksTable {
  link_key: string
  media_id: string
  fetched_time: number
}

export interface TemplateRoomsTable {
  phone_number_id: string
  tier: string
  room: number
  full_until: number
}

export interface StreamEventsTable {
  position: Generated<number>
  type: 'message' | 'status' | 'typing' | 'call'
  phone_number_id: string
  user_wa_id: string | null
  group_id: string | null
  message_id: string | null
  /** JSON text; null: the stream reads the message when it sends it. */
  data: string | null
  created_time: number
}

interface WantedStreamsTable {
  name: string
  wanted_until: number
}

/** Kept by triggers, like the tables that the names are from. */
interface SearchableNamesTable {
  kind: string
  id: string
  name: string
  /** When its node was made or the name was noted; null: that is not noted yet. */
  time: number | null
  is_split: boolean
}

interface NameWordsTable {
  word: string
  time: number
  id: string
  kind: string
}
