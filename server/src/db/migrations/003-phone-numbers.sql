-- Phone numbers and what hangs on them.

-- A phone number of an account. It has two nodes: the Phone-Number-ID (id) and the Account-Number-ID.
CREATE TABLE phone_numbers (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  account_number_id TEXT NOT NULL UNIQUE REFERENCES nodes (id),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  phone_number TEXT NOT NULL UNIQUE,
  display_phone_number TEXT NOT NULL,
  country_code TEXT,
  country_dial_code TEXT NOT NULL,
  verified_name TEXT NOT NULL,
  link_status TEXT NOT NULL,
  connection_status TEXT NOT NULL,
  registered BOOLEAN NOT NULL,
  quality_rating TEXT NOT NULL,
  code_verification_status TEXT NOT NULL,
  name_status TEXT NOT NULL,
  unified_cert_status TEXT NOT NULL,
  account_mode TEXT NOT NULL,
  host_platform TEXT NOT NULL,
  messaging_limit_tier TEXT NOT NULL,
  is_official_business_account BOOLEAN NOT NULL,
  username TEXT,
  certificate TEXT,
  creation_time BIGINT NOT NULL,
  last_onboarded_time BIGINT NOT NULL
);
CREATE INDEX phone_numbers_by_creation_time ON phone_numbers (account_id, creation_time, id);
CREATE INDEX phone_numbers_by_last_onboarded_time ON phone_numbers (account_id, last_onboarded_time, id);
CREATE UNIQUE INDEX phone_numbers_by_username ON phone_numbers (username);

-- What users see of a number's business.
CREATE TABLE business_profiles (
  phone_number_id TEXT PRIMARY KEY REFERENCES phone_numbers (id),
  about TEXT,
  address TEXT,
  description TEXT,
  email TEXT,
  websites JSONB,
  vertical TEXT
);

-- Who answers for a business, as the law of some countries asks.
CREATE TABLE compliance_info (
  phone_number_id TEXT PRIMARY KEY REFERENCES phone_numbers (id),
  entity_name TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  entity_type_custom TEXT,
  is_registered BOOLEAN,
  grievance_officer_details JSONB NOT NULL,
  customer_care_details JSONB NOT NULL
);

-- A QR code that opens a conversation with a prefilled message.
CREATE TABLE qr_codes (
  code TEXT PRIMARY KEY,
  phone_number_id TEXT NOT NULL REFERENCES phone_numbers (id),
  prefilled_message TEXT NOT NULL,
  creation_time BIGINT NOT NULL
);
CREATE INDEX qr_codes_by_creation_time ON qr_codes (phone_number_id, creation_time, code);

-- A group of users around a number.
CREATE TABLE groups (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  phone_number_id TEXT NOT NULL REFERENCES phone_numbers (id),
  subject TEXT NOT NULL,
  description TEXT NOT NULL,
  join_approval_mode TEXT NOT NULL,
  created_time BIGINT NOT NULL
);
CREATE INDEX groups_by_created_time ON groups (phone_number_id, created_time, id);

-- Whether a user lets a number call.
CREATE TABLE call_permissions (
  phone_number_id TEXT NOT NULL REFERENCES phone_numbers (id),
  user_wa_id TEXT NOT NULL,
  status TEXT NOT NULL,
  expiration_time BIGINT,
  PRIMARY KEY (phone_number_id, user_wa_id)
);
