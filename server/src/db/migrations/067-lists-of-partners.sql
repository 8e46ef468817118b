-- Lists of a business's accounts, of accounts that others gave it, and of who gave an app access.
CONCURRENTLY CREATE INDEX accounts_by_time ON accounts (business_id, created_time, id);
CONCURRENTLY CREATE INDEX account_access_given ON account_access (business_id, created_time, account_id) WHERE relation <> 'owner';
CONCURRENTLY CREATE INDEX agreement_requests_by_app ON agreement_requests (partner_app_id);
CONCURRENTLY CREATE INDEX agreement_requests_by_end_business ON agreement_requests (end_business_id);
