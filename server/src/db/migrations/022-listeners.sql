-- Who listens in the place of an app.

-- Who listens in an app's place (./switchboard listen), and what is to be put back when it ends: JSON, sealed.
CREATE TABLE listeners (
  app_id TEXT PRIMARY KEY REFERENCES apps (id),
  record TEXT NOT NULL
);
