-- Business accounts, who may see them, and which apps hear of them.

-- A business account: the owner of phone numbers.
CREATE TABLE accounts (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  name TEXT NOT NULL,
  timezone_id TEXT,
  message_template_namespace TEXT,
  account_review_status TEXT,
  business_verification_status TEXT,
  country TEXT,
  ownership_type TEXT,
  primary_business_location TEXT,
  small_business BOOLEAN NOT NULL,
  created_time BIGINT NOT NULL
);
CREATE INDEX accounts_by_business ON accounts (business_id, id);

-- Which business sees which account, and why: owner, shared, on_behalf_of.
CREATE TABLE account_access (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  relation TEXT NOT NULL,
  PRIMARY KEY (account_id, business_id, relation)
);
CREATE INDEX account_access_by_business ON account_access (business_id, account_id);

-- The apps linked to an account, each with its own callback where it has one.
CREATE TABLE subscribed_apps (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  app_id TEXT NOT NULL REFERENCES apps (id),
  override_callback_uri TEXT,
  verify_token TEXT,
  created_time BIGINT NOT NULL,
  PRIMARY KEY (account_id, app_id)
);

-- A request to move an account to another owner.
CREATE TABLE migration_intents (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  status TEXT NOT NULL
);

-- A bot: what a conversation offers before anybody answers; of an account, or of one of its numbers.
CREATE TABLE bots (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  phone_number_id TEXT UNIQUE,
  prompts JSONB NOT NULL,
  commands JSONB NOT NULL,
  enable_welcome_message BOOLEAN NOT NULL
);

-- A schedule of an account.
CREATE TABLE schedules (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  schedule_type TEXT NOT NULL,
  description TEXT,
  start_time TEXT,
  end_time TEXT,
  timezone TEXT NOT NULL,
  days_of_week JSONB,
  is_active BOOLEAN NOT NULL,
  recurrence_pattern JSONB,
  created_time BIGINT NOT NULL,
  updated_time BIGINT NOT NULL,
  UNIQUE (account_id, name)
);
CREATE INDEX schedules_by_created_time ON schedules (account_id, created_time, id);
CREATE INDEX schedules_by_updated_time ON schedules (account_id, updated_time, id);
