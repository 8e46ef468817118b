-- What rests on access that was withdrawn goes, and what was taken in once is known when it comes again.

-- Links of apps whose business has no access to the account any more: a withdrawal did not take them along before.
DELETE FROM subscribed_apps WHERE NOT EXISTS (
  SELECT 1 FROM apps JOIN account_access ON account_access.business_id = apps.business_id
  WHERE apps.id = subscribed_apps.app_id AND account_access.account_id = subscribed_apps.account_id);

-- And the callbacks that such apps have for numbers.
DELETE FROM phone_number_callbacks WHERE NOT EXISTS (
  SELECT 1 FROM phone_numbers JOIN subscribed_apps ON subscribed_apps.account_id = phone_numbers.account_id
  WHERE phone_numbers.id = phone_number_callbacks.phone_number_id AND subscribed_apps.app_id = phone_number_callbacks.app_id);

-- Statuses that were handed in before, each by a digest of message, status, time and recipient.
CREATE TABLE received_statuses (
  phone_number_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  received_time BIGINT NOT NULL,
  PRIMARY KEY (phone_number_id, digest)
);
CREATE INDEX received_statuses_by_time ON received_statuses (received_time);

-- Posts that were proven by a signature, so that one that was recorded on its way is not taken again: each by a digest of its
-- signature, and of its webhook-id where it had one.
CREATE TABLE received_posts (
  app_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  received_time BIGINT NOT NULL,
  PRIMARY KEY (app_id, digest)
);
CREATE INDEX received_posts_by_time ON received_posts (received_time);
