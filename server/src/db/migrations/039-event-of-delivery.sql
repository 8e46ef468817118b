-- What a delivery costs to store.

-- An event is stored by the statement that stores its deliveries, and goes only when it has none. PostgreSQL looked it up again for each
-- delivery that was stored, and locked it, and once more when the delivery was recorded: a twentieth of its work for an event.
ON_POSTGRESQL ALTER TABLE deliveries DROP CONSTRAINT deliveries_event_id_fkey;
