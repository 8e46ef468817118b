-- What operators find by words: names of nodes and of users, and what messages say.

-- A name that is searched. The triggers below keep it like the table that it is from, whatever writes there. time: when its node was made, or the name noted; is_split: whether its words are in name_words.
CREATE TABLE searchable_names (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  time BIGINT,
  is_split BOOLEAN NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE INDEX searchable_names_to_split ON searchable_names (kind, id) WHERE is_split = FALSE;

-- The words of names, in lower case and without accents. A word has its names in the order of their times.
CREATE TABLE name_words (
  word TEXT NOT NULL,
  time BIGINT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  PRIMARY KEY (word, time, id, kind),
  FOREIGN KEY (kind, id) REFERENCES searchable_names (kind, id) ON DELETE CASCADE
);
CREATE INDEX name_words_by_name ON name_words (kind, id);

-- Names that there are already. This comes before the triggers, which hold up writes until the migration ends.
INSERT INTO searchable_names (kind, id, name, time, is_split) SELECT 'business', id, name, created_time, FALSE FROM businesses WHERE name IS NOT NULL;
INSERT INTO searchable_names (kind, id, name, time, is_split) SELECT 'extended_credit', id, legal_entity_name, NULL, FALSE FROM extended_credits WHERE legal_entity_name IS NOT NULL;
INSERT INTO searchable_names (kind, id, name, time, is_split) SELECT 'application', id, name, created_time, FALSE FROM apps WHERE name IS NOT NULL;
INSERT INTO searchable_names (kind, id, name, time, is_split) SELECT 'account', id, name, created_time, FALSE FROM accounts WHERE name IS NOT NULL;
INSERT INTO searchable_names (kind, id, name, time, is_split) SELECT 'phone_number', id, verified_name, creation_time, FALSE FROM phone_numbers WHERE verified_name IS NOT NULL;
INSERT INTO searchable_names (kind, id, name, time, is_split) SELECT 'group', id, subject, created_time, FALSE FROM groups WHERE subject IS NOT NULL;
INSERT INTO searchable_names (kind, id, name, time, is_split) SELECT 'template', id, name, created_time, FALSE FROM message_templates WHERE name IS NOT NULL;
INSERT INTO searchable_names (kind, id, name, time, is_split) SELECT 'schedule', id, name, created_time, FALSE FROM schedules WHERE name IS NOT NULL;
INSERT INTO searchable_names (kind, id, name, time, is_split) SELECT 'solution', id, name, created_time, FALSE FROM solutions WHERE name IS NOT NULL;
INSERT INTO searchable_names (kind, id, name, time, is_split) SELECT 'user', wa_id, name, NULL, FALSE FROM users WHERE name IS NOT NULL;

-- The arguments: kind, and the columns of id, name and time.
ON_POSTGRESQL CREATE FUNCTION note_name() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE named JSONB; BEGIN IF TG_OP = 'DELETE' THEN named := to_jsonb(OLD); ELSE named := to_jsonb(NEW); END IF; IF TG_OP = 'DELETE' OR named ->> TG_ARGV[2] IS NULL THEN DELETE FROM searchable_names WHERE kind = TG_ARGV[0] AND id = named ->> TG_ARGV[1]; ELSE DELETE FROM name_words WHERE kind = TG_ARGV[0] AND id = named ->> TG_ARGV[1]; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES (TG_ARGV[0], named ->> TG_ARGV[1], named ->> TG_ARGV[2], CAST(named ->> TG_ARGV[3] AS BIGINT), FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END IF; RETURN NULL; END $$;
ON_POSTGRESQL CREATE TRIGGER business_name_added AFTER INSERT ON businesses FOR EACH ROW WHEN (NEW.name IS NOT NULL) EXECUTE FUNCTION note_name('business', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER business_name_changed AFTER UPDATE OF name ON businesses FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION note_name('business', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER business_name_gone AFTER DELETE ON businesses FOR EACH ROW WHEN (OLD.name IS NOT NULL) EXECUTE FUNCTION note_name('business', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER extended_credit_name_added AFTER INSERT ON extended_credits FOR EACH ROW WHEN (NEW.legal_entity_name IS NOT NULL) EXECUTE FUNCTION note_name('extended_credit', 'id', 'legal_entity_name', '');
ON_POSTGRESQL CREATE TRIGGER extended_credit_name_changed AFTER UPDATE OF legal_entity_name ON extended_credits FOR EACH ROW WHEN (OLD.legal_entity_name IS DISTINCT FROM NEW.legal_entity_name) EXECUTE FUNCTION note_name('extended_credit', 'id', 'legal_entity_name', '');
ON_POSTGRESQL CREATE TRIGGER extended_credit_name_gone AFTER DELETE ON extended_credits FOR EACH ROW WHEN (OLD.legal_entity_name IS NOT NULL) EXECUTE FUNCTION note_name('extended_credit', 'id', 'legal_entity_name', '');
ON_POSTGRESQL CREATE TRIGGER application_name_added AFTER INSERT ON apps FOR EACH ROW WHEN (NEW.name IS NOT NULL) EXECUTE FUNCTION note_name('application', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER application_name_changed AFTER UPDATE OF name ON apps FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION note_name('application', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER application_name_gone AFTER DELETE ON apps FOR EACH ROW WHEN (OLD.name IS NOT NULL) EXECUTE FUNCTION note_name('application', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER account_name_added AFTER INSERT ON accounts FOR EACH ROW WHEN (NEW.name IS NOT NULL) EXECUTE FUNCTION note_name('account', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER account_name_changed AFTER UPDATE OF name ON accounts FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION note_name('account', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER account_name_gone AFTER DELETE ON accounts FOR EACH ROW WHEN (OLD.name IS NOT NULL) EXECUTE FUNCTION note_name('account', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER phone_number_name_added AFTER INSERT ON phone_numbers FOR EACH ROW WHEN (NEW.verified_name IS NOT NULL) EXECUTE FUNCTION note_name('phone_number', 'id', 'verified_name', 'creation_time');
ON_POSTGRESQL CREATE TRIGGER phone_number_name_changed AFTER UPDATE OF verified_name ON phone_numbers FOR EACH ROW WHEN (OLD.verified_name IS DISTINCT FROM NEW.verified_name) EXECUTE FUNCTION note_name('phone_number', 'id', 'verified_name', 'creation_time');
ON_POSTGRESQL CREATE TRIGGER phone_number_name_gone AFTER DELETE ON phone_numbers FOR EACH ROW WHEN (OLD.verified_name IS NOT NULL) EXECUTE FUNCTION note_name('phone_number', 'id', 'verified_name', 'creation_time');
ON_POSTGRESQL CREATE TRIGGER group_name_added AFTER INSERT ON groups FOR EACH ROW WHEN (NEW.subject IS NOT NULL) EXECUTE FUNCTION note_name('group', 'id', 'subject', 'created_time');
ON_POSTGRESQL CREATE TRIGGER group_name_changed AFTER UPDATE OF subject ON groups FOR EACH ROW WHEN (OLD.subject IS DISTINCT FROM NEW.subject) EXECUTE FUNCTION note_name('group', 'id', 'subject', 'created_time');
ON_POSTGRESQL CREATE TRIGGER group_name_gone AFTER DELETE ON groups FOR EACH ROW WHEN (OLD.subject IS NOT NULL) EXECUTE FUNCTION note_name('group', 'id', 'subject', 'created_time');
ON_POSTGRESQL CREATE TRIGGER template_name_added AFTER INSERT ON message_templates FOR EACH ROW WHEN (NEW.name IS NOT NULL) EXECUTE FUNCTION note_name('template', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER template_name_changed AFTER UPDATE OF name ON message_templates FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION note_name('template', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER template_name_gone AFTER DELETE ON message_templates FOR EACH ROW WHEN (OLD.name IS NOT NULL) EXECUTE FUNCTION note_name('template', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER schedule_name_added AFTER INSERT ON schedules FOR EACH ROW WHEN (NEW.name IS NOT NULL) EXECUTE FUNCTION note_name('schedule', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER schedule_name_changed AFTER UPDATE OF name ON schedules FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION note_name('schedule', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER schedule_name_gone AFTER DELETE ON schedules FOR EACH ROW WHEN (OLD.name IS NOT NULL) EXECUTE FUNCTION note_name('schedule', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER solution_name_added AFTER INSERT ON solutions FOR EACH ROW WHEN (NEW.name IS NOT NULL) EXECUTE FUNCTION note_name('solution', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER solution_name_changed AFTER UPDATE OF name ON solutions FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION note_name('solution', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER solution_name_gone AFTER DELETE ON solutions FOR EACH ROW WHEN (OLD.name IS NOT NULL) EXECUTE FUNCTION note_name('solution', 'id', 'name', 'created_time');
ON_POSTGRESQL CREATE TRIGGER user_name_added AFTER INSERT ON users FOR EACH ROW WHEN (NEW.name IS NOT NULL) EXECUTE FUNCTION note_name('user', 'wa_id', 'name', '');
ON_POSTGRESQL CREATE TRIGGER user_name_changed AFTER UPDATE OF name ON users FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION note_name('user', 'wa_id', 'name', '');
ON_POSTGRESQL CREATE TRIGGER user_name_gone AFTER DELETE ON users FOR EACH ROW WHEN (OLD.name IS NOT NULL) EXECUTE FUNCTION note_name('user', 'wa_id', 'name', '');
ON_SQLITE CREATE TRIGGER business_name_added AFTER INSERT ON businesses WHEN NEW.name IS NOT NULL BEGIN INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('business', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER business_name_changed AFTER UPDATE OF name ON businesses WHEN OLD.name IS NOT NEW.name AND NEW.name IS NOT NULL BEGIN DELETE FROM name_words WHERE kind = 'business' AND id = NEW.id; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('business', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER business_name_gone AFTER DELETE ON businesses WHEN OLD.name IS NOT NULL BEGIN DELETE FROM searchable_names WHERE kind = 'business' AND id = OLD.id; END;
ON_SQLITE CREATE TRIGGER extended_credit_name_added AFTER INSERT ON extended_credits WHEN NEW.legal_entity_name IS NOT NULL BEGIN INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('extended_credit', NEW.id, NEW.legal_entity_name, NULL, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER extended_credit_name_changed AFTER UPDATE OF legal_entity_name ON extended_credits WHEN OLD.legal_entity_name IS NOT NEW.legal_entity_name AND NEW.legal_entity_name IS NOT NULL BEGIN DELETE FROM name_words WHERE kind = 'extended_credit' AND id = NEW.id; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('extended_credit', NEW.id, NEW.legal_entity_name, NULL, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER extended_credit_name_gone AFTER DELETE ON extended_credits WHEN OLD.legal_entity_name IS NOT NULL BEGIN DELETE FROM searchable_names WHERE kind = 'extended_credit' AND id = OLD.id; END;
ON_SQLITE CREATE TRIGGER application_name_added AFTER INSERT ON apps WHEN NEW.name IS NOT NULL BEGIN INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('application', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER application_name_changed AFTER UPDATE OF name ON apps WHEN OLD.name IS NOT NEW.name AND NEW.name IS NOT NULL BEGIN DELETE FROM name_words WHERE kind = 'application' AND id = NEW.id; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('application', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER application_name_gone AFTER DELETE ON apps WHEN OLD.name IS NOT NULL BEGIN DELETE FROM searchable_names WHERE kind = 'application' AND id = OLD.id; END;
ON_SQLITE CREATE TRIGGER account_name_added AFTER INSERT ON accounts WHEN NEW.name IS NOT NULL BEGIN INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('account', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER account_name_changed AFTER UPDATE OF name ON accounts WHEN OLD.name IS NOT NEW.name AND NEW.name IS NOT NULL BEGIN DELETE FROM name_words WHERE kind = 'account' AND id = NEW.id; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('account', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER account_name_gone AFTER DELETE ON accounts WHEN OLD.name IS NOT NULL BEGIN DELETE FROM searchable_names WHERE kind = 'account' AND id = OLD.id; END;
ON_SQLITE CREATE TRIGGER phone_number_name_added AFTER INSERT ON phone_numbers WHEN NEW.verified_name IS NOT NULL BEGIN INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('phone_number', NEW.id, NEW.verified_name, NEW.creation_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER phone_number_name_changed AFTER UPDATE OF verified_name ON phone_numbers WHEN OLD.verified_name IS NOT NEW.verified_name AND NEW.verified_name IS NOT NULL BEGIN DELETE FROM name_words WHERE kind = 'phone_number' AND id = NEW.id; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('phone_number', NEW.id, NEW.verified_name, NEW.creation_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER phone_number_name_gone AFTER DELETE ON phone_numbers WHEN OLD.verified_name IS NOT NULL BEGIN DELETE FROM searchable_names WHERE kind = 'phone_number' AND id = OLD.id; END;
ON_SQLITE CREATE TRIGGER group_name_added AFTER INSERT ON groups WHEN NEW.subject IS NOT NULL BEGIN INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('group', NEW.id, NEW.subject, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER group_name_changed AFTER UPDATE OF subject ON groups WHEN OLD.subject IS NOT NEW.subject AND NEW.subject IS NOT NULL BEGIN DELETE FROM name_words WHERE kind = 'group' AND id = NEW.id; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('group', NEW.id, NEW.subject, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER group_name_gone AFTER DELETE ON groups WHEN OLD.subject IS NOT NULL BEGIN DELETE FROM searchable_names WHERE kind = 'group' AND id = OLD.id; END;
ON_SQLITE CREATE TRIGGER template_name_added AFTER INSERT ON message_templates WHEN NEW.name IS NOT NULL BEGIN INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('template', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER template_name_changed AFTER UPDATE OF name ON message_templates WHEN OLD.name IS NOT NEW.name AND NEW.name IS NOT NULL BEGIN DELETE FROM name_words WHERE kind = 'template' AND id = NEW.id; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('template', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER template_name_gone AFTER DELETE ON message_templates WHEN OLD.name IS NOT NULL BEGIN DELETE FROM searchable_names WHERE kind = 'template' AND id = OLD.id; END;
ON_SQLITE CREATE TRIGGER schedule_name_added AFTER INSERT ON schedules WHEN NEW.name IS NOT NULL BEGIN INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('schedule', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER schedule_name_changed AFTER UPDATE OF name ON schedules WHEN OLD.name IS NOT NEW.name AND NEW.name IS NOT NULL BEGIN DELETE FROM name_words WHERE kind = 'schedule' AND id = NEW.id; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('schedule', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER schedule_name_gone AFTER DELETE ON schedules WHEN OLD.name IS NOT NULL BEGIN DELETE FROM searchable_names WHERE kind = 'schedule' AND id = OLD.id; END;
ON_SQLITE CREATE TRIGGER solution_name_added AFTER INSERT ON solutions WHEN NEW.name IS NOT NULL BEGIN INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('solution', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER solution_name_changed AFTER UPDATE OF name ON solutions WHEN OLD.name IS NOT NEW.name AND NEW.name IS NOT NULL BEGIN DELETE FROM name_words WHERE kind = 'solution' AND id = NEW.id; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('solution', NEW.id, NEW.name, NEW.created_time, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER solution_name_gone AFTER DELETE ON solutions WHEN OLD.name IS NOT NULL BEGIN DELETE FROM searchable_names WHERE kind = 'solution' AND id = OLD.id; END;
ON_SQLITE CREATE TRIGGER user_name_added AFTER INSERT ON users WHEN NEW.name IS NOT NULL BEGIN INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('user', NEW.wa_id, NEW.name, NULL, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER user_name_changed AFTER UPDATE OF name ON users WHEN OLD.name IS NOT NEW.name AND NEW.name IS NOT NULL BEGIN DELETE FROM name_words WHERE kind = 'user' AND id = NEW.wa_id; INSERT INTO searchable_names (kind, id, name, time, is_split) VALUES ('user', NEW.wa_id, NEW.name, NULL, FALSE) ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, is_split = FALSE; END;
ON_SQLITE CREATE TRIGGER user_name_erased AFTER UPDATE OF name ON users WHEN OLD.name IS NOT NULL AND NEW.name IS NULL BEGIN DELETE FROM searchable_names WHERE kind = 'user' AND id = OLD.wa_id; END;
ON_SQLITE CREATE TRIGGER user_name_gone AFTER DELETE ON users WHEN OLD.name IS NOT NULL BEGIN DELETE FROM searchable_names WHERE kind = 'user' AND id = OLD.wa_id; END;

-- Names of users that came while the first ones were copied.
INSERT INTO searchable_names (kind, id, name, time, is_split)
  SELECT 'user', wa_id, name, NULL, FALSE FROM users WHERE name IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM searchable_names s WHERE s.kind = 'user' AND s.id = users.wa_id AND s.name = users.name)
  ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name;

-- The words of what a message says; null: not listed yet, because an earlier version stored it.
ALTER TABLE message_contents ADD COLUMN words JSONB;
ON_POSTGRESQL CREATE INDEX message_contents_without_words ON message_contents (created_time) WHERE words IS NULL;
-- A small list of pending entries: whoever fills it up puts all of them into the index.
ON_POSTGRESQL CREATE INDEX message_contents_by_words ON message_contents USING GIN (words jsonb_path_ops) WITH (gin_pending_list_limit = 512) WHERE words IS NOT NULL;

-- SQLite has no index over the items of a column, but one over texts: the list is one, whose brackets and quotes separate words. It is filled by the worker in large steps, because each transaction that writes to it costs a page. Deletes remove words at once (secure-delete). Merges are left to the worker too, which overwrites the pages that they free.
ON_SQLITE CREATE VIRTUAL TABLE message_words USING fts5 (words, content = '', detail = none, tokenize = 'ascii');
ON_SQLITE INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1), ('automerge', 0), ('crisismerge', 1999);
-- Up to which rowid of message_contents the index goes; never beyond the last row, whose rowid may be given again.
ON_SQLITE CREATE TABLE message_words_end (last_rowid BIGINT NOT NULL);
ON_SQLITE INSERT INTO message_words_end (last_rowid) VALUES (0);
ON_SQLITE CREATE TRIGGER message_words_gone AFTER DELETE ON message_contents BEGIN INSERT INTO message_words (message_words, rowid, words) SELECT 'delete', OLD.rowid, OLD.words FROM message_words_end WHERE last_rowid >= OLD.rowid; UPDATE message_words_end SET last_rowid = COALESCE((SELECT MAX(rowid) FROM message_contents), 0) WHERE last_rowid > COALESCE((SELECT MAX(rowid) FROM message_contents), 0); END;
