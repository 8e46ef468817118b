-- The last migration that a version has to know to start on this store, although newer ones have run.
CREATE TABLE schema_floor (migration TEXT NOT NULL);
INSERT INTO schema_floor (migration) VALUES ('');
