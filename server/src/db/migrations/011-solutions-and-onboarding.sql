-- What partners agree on with each other and with the businesses that they work for.

-- Which other business sees a node that hangs on no account.
CREATE TABLE node_shares (
  node_id TEXT NOT NULL REFERENCES nodes (id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  PRIMARY KEY (node_id, business_id)
);

-- A multi-partner solution: two apps that serve the same customers.
CREATE TABLE solutions (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  created_time BIGINT NOT NULL
);

-- The two apps of a solution (OWNER, PARTNER) with the permissions that were configured for each; the hour is the solution's.
CREATE TABLE solution_apps (
  solution_id TEXT NOT NULL REFERENCES solutions (id),
  role TEXT NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  permissions JSONB NOT NULL,
  created_time BIGINT NOT NULL,
  PRIMARY KEY (solution_id, role),
  UNIQUE (solution_id, app_id)
);
CREATE INDEX solution_apps_by_time ON solution_apps (app_id, created_time, solution_id);
CREATE INDEX solution_apps_by_role ON solution_apps (app_id, role, created_time, solution_id);

-- What a partner asks an end business to agree to.
CREATE TABLE agreement_requests (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  partner_business_id TEXT NOT NULL REFERENCES businesses (id),
  partner_app_id TEXT NOT NULL REFERENCES apps (id),
  end_business_id TEXT NOT NULL REFERENCES businesses (id),
  solution_id TEXT REFERENCES solutions (id),
  created_time BIGINT NOT NULL
);
CREATE UNIQUE INDEX agreement_requests_pending ON agreement_requests (partner_business_id, end_business_id, type)
  WHERE status = 'PENDING';

-- The partner that an account, managed on its owner's behalf, is meant to move to once the owner agrees.
CREATE TABLE mobility_intents (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  partner_business_id TEXT NOT NULL REFERENCES businesses (id),
  request_id TEXT NOT NULL REFERENCES agreement_requests (id),
  solution_id TEXT REFERENCES solutions (id),
  created_time BIGINT NOT NULL,
  PRIMARY KEY (account_id, partner_business_id)
);
