-- How a business connects itself to an app: people of businesses, what they agreed to, and the codes and tokens that come of it.

-- A person of a business, who may connect it to apps.
CREATE TABLE business_users (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  created_time BIGINT NOT NULL
);
CREATE INDEX business_users_by_business ON business_users (business_id, created_time, id);
CREATE INDEX business_users_by_email ON business_users (email);

-- Their names are searched, as those of other nodes.
ON_POSTGRESQL CREATE TRIGGER business_user_name_added AFTER INSERT ON business_users FOR EACH ROW WHEN (NEW.name IS NOT NULL) EXECUTE FUNCTION note_name('business_user', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER business_user_name_changed AFTER UPDATE OF name ON business_users FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION note_name('business_user', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER business_user_name_gone AFTER DELETE ON business_users FOR EACH ROW WHEN (OLD.name IS NOT NULL) EXECUTE FUNCTION note_name('business_user', 'id', 'name', 'created_time');
ON_SQLITE CREATE TRIGGER business_user_name_added AFTER INSERT ON business_users WHEN NEW.name IS NOT NULL BEGIN INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('business_user', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER business_user_name_changed AFTER UPDATE OF name ON business_users WHEN OLD.name IS NOT NEW.name AND NEW.name IS NOT NULL BEGIN DELETE FROM name_words WHERE kind = 'business_user' AND id = NEW.id; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('business_user', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER business_user_name_gone AFTER DELETE ON business_users WHEN OLD.name IS NOT NULL BEGIN DELETE FROM searchable_names WHERE kind = 'business_user' AND id = OLD.id; END;

-- A business's account connected to an app. scopes: what was agreed to and not taken back; ended_time: null while it lasts.
CREATE TABLE connections (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES apps (id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  phone_number_id TEXT,
  user_id TEXT NOT NULL,
  scopes JSONB NOT NULL,
  created_time BIGINT NOT NULL,
  ended_time BIGINT
);
CREATE INDEX connections_by_app ON connections (app_id, created_time, id);
CREATE INDEX connections_by_account ON connections (account_id, app_id);

-- A code that an app exchanges for a token, once. token_id: the token that was given for it, which ends when the code comes again.
CREATE TABLE sign_up_codes (
  hash TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES apps (id),
  connection_id TEXT NOT NULL REFERENCES connections (id),
  redirect_uri TEXT NOT NULL,
  code_challenge TEXT,
  scopes JSONB NOT NULL,
  created_time BIGINT NOT NULL,
  expires_time BIGINT NOT NULL,
  used_time BIGINT,
  token_id TEXT
);
CREATE INDEX sign_up_codes_by_end ON sign_up_codes (expires_time);
CREATE INDEX sign_up_codes_by_connection ON sign_up_codes (connection_id);

-- A link that lets a person of a business sign in, once; hash: of its code.
CREATE TABLE business_user_links (
  hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  expires_time BIGINT NOT NULL
);
CREATE INDEX business_user_links_by_end ON business_user_links (expires_time);

-- A business that asks to act on behalf of an account's owner.
CREATE TABLE onbehalf_requests (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  requesting_business_id TEXT NOT NULL REFERENCES businesses (id),
  receiving_business_id TEXT NOT NULL REFERENCES businesses (id),
  status TEXT NOT NULL,
  created_time BIGINT NOT NULL
);
CREATE INDEX onbehalf_requests_by_account ON onbehalf_requests (account_id, created_time, id);
CREATE INDEX onbehalf_requests_by_time ON onbehalf_requests (created_time, id);
