-- Calls between users and numbers, and what limits them.

-- One call, from its start on. At most one between a number and a user is open at a time. A session is what one side sent to set
-- up the media: {sdp_type, sdp}.
CREATE TABLE calls (
  id TEXT PRIMARY KEY,
  phone_number_id TEXT NOT NULL REFERENCES phone_numbers (id),
  user_wa_id TEXT NOT NULL,
  user_name TEXT,
  direction TEXT NOT NULL,
  state TEXT NOT NULL,
  ending TEXT,
  business_session JSONB,
  user_session JSONB,
  biz_opaque_callback_data TEXT,
  ring_timer_id TEXT,
  created_time BIGINT NOT NULL,
  accepted_time BIGINT,
  ended_time BIGINT
);
CREATE UNIQUE INDEX calls_open ON calls (phone_number_id, user_wa_id) WHERE state <> 'ended';
CREATE INDEX calls_by_user ON calls (phone_number_id, user_wa_id, direction, created_time);

-- When a user was asked for permission to be called, for as long as that counts.
CREATE TABLE call_permission_requests (
  id TEXT PRIMARY KEY,
  phone_number_id TEXT NOT NULL REFERENCES phone_numbers (id),
  user_wa_id TEXT NOT NULL,
  sent_time BIGINT NOT NULL
);
CREATE INDEX call_permission_requests_by_user ON call_permission_requests (phone_number_id, user_wa_id, sent_time);

-- Whether a number can call and be called.
ALTER TABLE phone_numbers ADD COLUMN calling_enabled BOOLEAN NOT NULL DEFAULT TRUE;
