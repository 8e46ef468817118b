-- Messages between users and numbers, the chats that they stand in, and what is known of users.

-- What a user's phone is set to, and the user's name; a user without a row has the defaults.
CREATE TABLE users (
  wa_id TEXT PRIMARY KEY,
  name TEXT,
  presence TEXT,
  auto_read BOOLEAN NOT NULL,
  read_receipts BOOLEAN NOT NULL,
  reachable BOOLEAN NOT NULL
);

-- One number and one user, or one group. window_time: the user's last message or call; blocked and marketing are the user's
-- choice; pair_time: up to when the limit of messages to the user is used up; template_time: the last template outside a window;
-- conversations: by category, the id and the end of the conversation that is open.
CREATE TABLE chats (
  id TEXT PRIMARY KEY,
  phone_number_id TEXT NOT NULL REFERENCES phone_numbers (id),
  user_wa_id TEXT,
  group_id TEXT,
  window_time BIGINT,
  blocked BOOLEAN NOT NULL,
  marketing TEXT NOT NULL,
  typing_until BIGINT NOT NULL,
  pair_time BIGINT NOT NULL,
  template_time BIGINT,
  conversations JSONB NOT NULL,
  last_message_id TEXT,
  last_time BIGINT NOT NULL
);
CREATE INDEX chats_by_user ON chats (user_wa_id, last_time, id) WHERE user_wa_id IS NOT NULL;
CREATE INDEX chats_by_template ON chats (phone_number_id, template_time) WHERE template_time IS NOT NULL;

-- A message of either direction without its content: ids, kinds, times and states. user_wa_id is null when it goes to a group,
-- whose participants have rows of their own. A message from a user is there before its chat. pricing: its conversation and what it costs.
CREATE TABLE messages (
  position ORDERED_ID,
  id TEXT NOT NULL UNIQUE,
  chat_id TEXT NOT NULL,
  phone_number_id TEXT NOT NULL,
  user_wa_id TEXT,
  group_id TEXT,
  direction TEXT NOT NULL,
  type TEXT NOT NULL,
  is_voice BOOLEAN NOT NULL,
  context_id TEXT,
  state TEXT NOT NULL,
  error_code INTEGER,
  created_time BIGINT NOT NULL,
  sent_time BIGINT,
  delivered_time BIGINT,
  read_time BIGINT,
  played_time BIGINT,
  ended_time BIGINT,
  expires_time BIGINT,
  pricing JSONB,
  choices JSONB,
  biz_opaque_callback_data TEXT
);
CREATE INDEX messages_by_chat ON messages (chat_id, position);
CREATE INDEX messages_unread ON messages (chat_id, direction, position) WHERE state IN ('sent', 'delivered');
CREATE INDEX messages_waiting ON messages (user_wa_id, position) WHERE state = 'sent' AND direction = 'to_user';
CREATE INDEX messages_by_time ON messages (created_time);

-- What a message says, apart from the message because it goes earlier: JSON text, and the bytes of its media file.
CREATE TABLE message_contents (
  message_id TEXT PRIMARY KEY,
  content TEXT NOT NULL,
  sha256 TEXT,
  created_time BIGINT NOT NULL
);
CREATE INDEX message_contents_by_time ON message_contents (created_time);

-- A message to a group on its way to one participant of the moment of sending.
CREATE TABLE message_recipients (
  message_id TEXT NOT NULL REFERENCES messages (id),
  user_wa_id TEXT NOT NULL,
  state TEXT NOT NULL,
  error_code INTEGER,
  delivered_time BIGINT,
  read_time BIGINT,
  played_time BIGINT,
  ended_time BIGINT,
  PRIMARY KEY (message_id, user_wa_id)
);
CREATE INDEX message_recipients_waiting ON message_recipients (user_wa_id, message_id) WHERE state = 'sent';

-- Users whom a number has blocked.
CREATE TABLE blocked_users (
  phone_number_id TEXT NOT NULL REFERENCES phone_numbers (id),
  user_wa_id TEXT NOT NULL,
  created_time BIGINT NOT NULL,
  PRIMARY KEY (phone_number_id, user_wa_id)
);
CREATE INDEX blocked_users_by_time ON blocked_users (phone_number_id, created_time, user_wa_id);

-- The response to a request that named an Idempotency-Key, for as long as the key is kept; digest: of the body.
CREATE TABLE idempotency_keys (
  app_id TEXT NOT NULL,
  phone_number_id TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  response TEXT,
  created_time BIGINT NOT NULL,
  PRIMARY KEY (app_id, phone_number_id, key)
);
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_time);
