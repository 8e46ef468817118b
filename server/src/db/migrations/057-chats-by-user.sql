-- Replaced by chats_of_user.
DROP INDEX chats_by_user;

-- Every delivery leaves a dead row, which the indexes of what waits are read past until it is vacuumed. By default that is when a fifth of
-- the table is dead: with a month of deliveries, days.
ON_POSTGRESQL ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.02);
