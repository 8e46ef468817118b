-- The life of a phone number: what a business sets, the code that proves it, the PIN that guards it, where its events go.

-- The counter of registrations: what was made under an earlier one (a signed key) can be told from what is current.
ALTER TABLE phone_numbers ADD COLUMN registration_epoch BIGINT NOT NULL DEFAULT 0;
UPDATE phone_numbers SET registration_epoch = 1 WHERE registered;

-- A name that waits for its review; until then the number goes by verified_name.
ALTER TABLE phone_numbers ADD COLUMN new_display_name TEXT;
ALTER TABLE phone_numbers ADD COLUMN search_visibility TEXT NOT NULL DEFAULT 'VISIBLE';
ALTER TABLE phone_numbers ADD COLUMN show_security_notifications BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE phone_numbers ADD COLUMN notify_user_change_number BOOLEAN NOT NULL DEFAULT FALSE;

-- The newest verification code of a number that is not verified, and the wrong tries at it; the row goes with the right one.
CREATE TABLE verification_codes (
  phone_number_id TEXT PRIMARY KEY REFERENCES phone_numbers (id),
  code_hash TEXT NOT NULL,
  expires_time BIGINT NOT NULL,
  carrier_timer_id TEXT,
  wrong_tries INTEGER NOT NULL,
  first_wrong_time BIGINT NOT NULL,
  blocked_until BIGINT NOT NULL
);

-- The two-step verification PIN of a number, as a slow salted hash; kept apart so that no read of a number carries it.
CREATE TABLE two_step_pins (
  phone_number_id TEXT PRIMARY KEY REFERENCES phone_numbers (id),
  pin_hash TEXT NOT NULL
);

-- Where an app hears of one number: its override first, then its webhook_url. By app, so that none redirects another's events.
CREATE TABLE phone_number_callbacks (
  phone_number_id TEXT NOT NULL REFERENCES phone_numbers (id),
  app_id TEXT NOT NULL REFERENCES apps (id),
  override_callback_uri TEXT,
  webhook_url TEXT,
  PRIMARY KEY (phone_number_id, app_id)
);
