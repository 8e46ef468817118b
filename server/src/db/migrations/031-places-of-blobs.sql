-- Where blobs are in object storage, which may carry out a removal long after it was given up.

-- Tells apart the times that a blob was stored, removed and stored again; empty: stored before, or on a file system, which needs none.
ALTER TABLE files ADD COLUMN place TEXT NOT NULL DEFAULT '';
