-- As deliveries_in_order and deliveries_oldest_waiting, with a condition that only the queries have which want them (db/waiting.ts). When nothing waited, the planner
-- took those two for the shortest way to any delivery that waits, also one whose id or lane is known, and went on so when tens of thousands waited.
CONCURRENTLY CREATE INDEX deliveries_of_conversation ON deliveries (conversation, lane_id, id) WHERE state || '' = 'waiting';
CONCURRENTLY CREATE INDEX deliveries_waiting_since ON deliveries (started_time) WHERE state || '' = 'waiting';
