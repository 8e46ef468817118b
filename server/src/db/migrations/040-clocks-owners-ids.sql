-- What a wrong clock may not do, who holds a lease, and what webhooks are known by.

-- The time up to which time passed as expected, by the clock of the database, or of the process where the store is embedded: what is old is
-- deleted only while the clock goes on from there. accepted_time: when an operator last accepted a jump forward. One row.
CREATE TABLE store_clock (
  id TEXT PRIMARY KEY,
  trusted_time BIGINT NOT NULL,
  accepted_time BIGINT
);

-- By how many milliseconds the clock of a process is ahead of the database's; null: it was not compared.
ALTER TABLE processes ADD COLUMN clock_offset BIGINT;

-- Who holds a timer until leased_until; null: nobody, or a process of an earlier version.
ALTER TABLE timers ADD COLUMN lease_owner TEXT;

-- The last delivery whose webhook-id is its number alone: numbers come again after an older copy of the store was restored, so later ones
-- also have the time of their event in it. One row.
CREATE TABLE webhook_ids (
  id TEXT PRIMARY KEY,
  last_plain_delivery BIGINT NOT NULL
);
INSERT INTO webhook_ids (id, last_plain_delivery) SELECT 'webhook_ids', COALESCE(MAX(id), 0) FROM deliveries;
