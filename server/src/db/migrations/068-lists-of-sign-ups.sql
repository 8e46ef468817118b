-- Lists that grow with the businesses that signed up: connections of all and of one business, tokens of an app, people by name.
CONCURRENTLY CREATE INDEX connections_by_time ON connections (created_time, id);
CONCURRENTLY CREATE INDEX connections_by_business ON connections (business_id, created_time, id);
CONCURRENTLY CREATE INDEX tokens_by_app ON tokens (app_id, created_time, id);
CONCURRENTLY CREATE INDEX business_users_by_name ON business_users (name, id);
-- What an app asked for, by the time of it.
CONCURRENTLY CREATE INDEX agreement_requests_by_app_time ON agreement_requests (partner_app_id, created_time);
-- Which account is the oldest, for a sandbox that agrees by itself.
CONCURRENTLY CREATE INDEX accounts_by_creation ON accounts (created_time, id);
