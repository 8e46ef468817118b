-- Lists of operators and of the gateway over all tenants: without these they read every row.
CREATE INDEX tokens_by_time ON tokens (created_time, id);
CREATE INDEX message_templates_in_order ON message_templates (created_time, id);
CREATE INDEX nodes_by_kind ON nodes (kind, id);
CREATE INDEX nodes_by_business ON nodes (business_id, id);
CREATE INDEX nodes_by_account ON nodes (account_id, id);
