import { sealedColumns } from '../../../src/db/secrets/sealed-columns.ts'
import { nodeKinds } from '../../../src/operations.ts'
import { ids } from '../world.ts'
import type { StoreView } from './store-view.ts'
import { connector } from './world.ts'

/** The table of the resource that a node of a kind stands for, and the account it belongs to. */
const homes: Readonly<Record<string, readonly [table: string, id: string, account: string]>> = {
  business: ['businesses', 'id', 'NULL'],
  application: ['apps', 'id', 'NULL'],
  account: ['accounts', 'id', 'id'],
  phone_number: ['phone_numbers', 'id', 'account_id'],
  account_number: ['phone_numbers', 'account_number_id', 'account_id'],
  bot: ['bots', 'id', 'account_id'],
  migration_intent: ['migration_intents', 'id', 'account_id'],
  solution: ['solutions', 'id', 'NULL'],
  upload: ['uploads', 'id', 'NULL'],
  media: ['media', 'id', accountOfNumber('media')],
  group: ['groups', 'id', accountOfNumber('groups')],
  extended_credit: ['extended_credits', 'id', 'NULL'],
  business_user: ['business_users', 'id', 'NULL'],
  schedule: ['schedules', 'id', 'account_id'],
  template: ['message_templates', 'id', 'account_id'],
  onbehalf_request: ['onbehalf_requests', 'id', 'account_id'],
  onboarding_request: ['agreement_requests', 'id', 'NULL'],
}

function accountOfNumber(table: string): string {
  return `(SELECT account_id FROM phone_numbers WHERE phone_numbers.id = ${table}.phone_number_id)`
}

/** The message statuses that events report. */
const toldStatuses = `
  SELECT events.id AS event_id, json_extract(value, '$.statuses[0].id') AS id, json_extract(value, '$.statuses[0].status') AS status
  FROM events WHERE field = 'messages' AND json_extract(value, '$.statuses[0].id') IS NOT NULL`

/** Events that are for one app alone: an account was connected to it, or is not any more. */
const isAboutConnection = `(field = 'account_update' AND json_extract(value, '$.waba_info') IS NOT NULL)`

/** Each finds rows that must not be: `what` names one. */
const rules: Readonly<Record<string, string>> = {
  'a use of a content is of nothing': `
    SELECT used_by AS what FROM file_uses WHERE NOT EXISTS (
      SELECT 1 FROM media WHERE used_by = 'media:' || media.id AND media.sha256 = file_uses.sha256
      UNION ALL SELECT 1 FROM message_templates AS t WHERE used_by = 'template:' || t.id AND t.header_sha256 = file_uses.sha256
      UNION ALL SELECT 1 FROM message_contents AS c WHERE used_by = 'message:' || c.message_id AND c.sha256 = file_uses.sha256
      UNION ALL SELECT 1 FROM profile_pictures AS p WHERE used_by = 'picture:' || p.picture_id AND p.sha256 = file_uses.sha256
      UNION ALL SELECT 1 FROM uploads WHERE used_by = uploads.id AND uploads.sha256 = file_uses.sha256 AND used_time IS NULL)`,
  'a medium does not use its content': `
    SELECT id AS what FROM media WHERE NOT EXISTS (
      SELECT 1 FROM file_uses WHERE used_by = 'media:' || media.id AND file_uses.sha256 = media.sha256)`,
  'a picture does not use its content': `
    SELECT picture_id AS what FROM profile_pictures AS p WHERE NOT EXISTS (
      SELECT 1 FROM file_uses WHERE used_by = 'picture:' || p.picture_id AND file_uses.sha256 = p.sha256)`,
  'a template does not use the file of its header': `
    SELECT id AS what FROM message_templates AS t WHERE header_sha256 IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM file_uses WHERE used_by = 'template:' || t.id AND file_uses.sha256 = t.header_sha256)`,
  'a message does not use its file': `
    SELECT message_id AS what FROM message_contents AS c WHERE sha256 IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM file_uses WHERE used_by = 'message:' || c.message_id AND file_uses.sha256 = c.sha256)`,
  'a message has no content, or a content no message': `
    SELECT id AS what FROM messages WHERE id NOT IN (SELECT message_id FROM message_contents)
    UNION ALL SELECT message_id FROM message_contents WHERE message_id NOT IN (SELECT id FROM messages)`,
  'a message was accepted and waits for nothing': `
    SELECT id AS what FROM messages WHERE state = 'accepted' AND id NOT IN (SELECT message_id FROM link_fetches)`,
  'a link is waited for by a message that does not wait': `
    SELECT message_id AS what FROM link_fetches WHERE message_id NOT IN (SELECT id FROM messages WHERE state = 'accepted')`,
  'a message went through something that was not told once': `
    WITH told AS (${toldStatuses}), gone AS (
      SELECT id, 'sent' AS status FROM messages WHERE sent_time IS NOT NULL AND direction = 'to_user' AND group_id IS NULL
      UNION ALL SELECT id, 'delivered' FROM messages WHERE delivered_time IS NOT NULL AND group_id IS NULL
      UNION ALL SELECT id, 'read' FROM messages WHERE read_time IS NOT NULL AND direction = 'to_user' AND group_id IS NULL)
    SELECT gone.id || ' ' || gone.status AS what FROM gone LEFT JOIN (
      SELECT id, status, count(*) AS times FROM told GROUP BY id, status) AS counted USING (id, status)
    WHERE times IS NOT 1`,
  'a status was told before another that it follows': `
    SELECT id AS what FROM (
      SELECT id, place, lag(place) OVER (PARTITION BY id ORDER BY event_id) AS before FROM (
        SELECT id, event_id, instr('sent delivered read', status) AS place FROM (${toldStatuses})))
    WHERE before >= place`,
  'a template has not the row of its name': `
    SELECT id AS what FROM message_templates AS t WHERE NOT EXISTS (
      SELECT 1 FROM template_names AS n WHERE n.account_id = t.account_id AND n.name = t.name AND n.deleted_time IS NULL
        AND (n.was_approved OR t.status IN ('PENDING', 'REJECTED')))`,
  'a name is in use that no template has': `
    SELECT name AS what FROM template_names AS n WHERE deleted_time IS NULL AND NOT EXISTS (
      SELECT 1 FROM message_templates AS t WHERE t.account_id = n.account_id AND t.name = n.name)`,
  'a template waits for a review that never comes': `
    SELECT id AS what FROM message_templates WHERE status = 'PENDING'`,
  'a finished upload does not use its content': `
    SELECT id AS what FROM uploads WHERE handle IS NOT NULL AND used_time IS NULL AND NOT EXISTS (
      SELECT 1 FROM file_uses WHERE used_by = uploads.id AND file_uses.sha256 = uploads.sha256)`,
  'a medium has another size than its content': `
    SELECT id AS what FROM media JOIN files USING (sha256) WHERE media.file_size <> files.size`,
  'an upload is half finished': `
    SELECT id AS what FROM uploads
    WHERE (handle IS NULL) <> (sha256 IS NULL) OR (handle IS NOT NULL AND file_offset <> file_length) OR file_offset > file_length`,
  'the pieces of an upload have gaps, overlap or are not as long as what has arrived': `
    SELECT id AS what FROM uploads WHERE handle IS NULL AND (
      file_offset <> (SELECT coalesce(sum(size), 0) FROM upload_pieces WHERE upload_id = uploads.id)
      OR EXISTS (SELECT 1 FROM upload_pieces AS p WHERE upload_id = uploads.id AND p.file_offset <> (
        SELECT coalesce(sum(size), 0) FROM upload_pieces AS q WHERE q.upload_id = p.upload_id AND q.file_offset < p.file_offset)))`,
  'a piece is of an upload that is finished': `
    SELECT id AS what FROM uploads JOIN upload_pieces ON upload_id = uploads.id WHERE handle IS NOT NULL`,
  'an upload never expires': neverDue('uploads', 'uploads.expire', 'id'),
  'a medium never expires': neverDue('media', 'media.expire', 'id'),
  'a content that nothing uses is never swept': `
    SELECT sha256 AS what FROM files WHERE NOT EXISTS (SELECT 1 FROM file_uses WHERE file_uses.sha256 = files.sha256)
      AND NOT EXISTS (
        SELECT 1 FROM timers WHERE kind = 'files.sweep' AND json_extract(payload, '$.sha256') = files.sha256)`,
  'a call is half ended': `
    SELECT id AS what FROM calls WHERE (state = 'ended') <> (ending IS NOT NULL) OR (state = 'ended') <> (ended_time IS NOT NULL)`,
  'a call that nobody answers rings for ever': `
    SELECT id AS what FROM calls WHERE state IN ('initiated', 'ringing') AND NOT EXISTS (
      SELECT 1 FROM timers WHERE timers.id = calls.ring_timer_id)`,
  'a call rings out that was answered or ended': `
    SELECT timers.id AS what FROM timers WHERE kind = 'calls.ring_out' AND NOT EXISTS (
      SELECT 1 FROM calls WHERE calls.ring_timer_id = timers.id AND state IN ('initiated', 'ringing'))`,
  'a code waits for a number that is verified': `
    SELECT phone_number_id AS what FROM verification_codes JOIN phone_numbers AS n ON n.id = phone_number_id
    WHERE n.code_verification_status = 'VERIFIED'`,
  // One that is too old may outlive its message, which the outbox forgets after a day.
  'a code was never sent': `
    SELECT phone_number_id AS what FROM verification_codes JOIN phone_numbers AS n ON n.id = phone_number_id
    WHERE expires_time > unixepoch('subsec') * 1000 AND NOT EXISTS (SELECT 1 FROM carrier_messages WHERE recipient = n.phone_number)`,
  'a message stays in the outbox for ever': neverDue('carrier_messages', 'carrier.forget', 'id'),
  'a number that was created has no code': `
    SELECT id AS what FROM phone_numbers AS n WHERE code_verification_status <> 'VERIFIED'
      AND EXISTS (SELECT 1 FROM carrier_messages WHERE recipient = n.phone_number)
      AND NOT EXISTS (SELECT 1 FROM verification_codes WHERE phone_number_id = n.id)`,
  'a number that was registered through the API has no PIN': `
    SELECT id AS what FROM phone_numbers AS n WHERE registered
      AND EXISTS (SELECT 1 FROM carrier_messages WHERE recipient = n.phone_number)
      AND NOT EXISTS (SELECT 1 FROM two_step_pins WHERE phone_number_id = n.id)`,
  'a solution has not its two apps': `
    SELECT id AS what FROM solutions WHERE (
      SELECT group_concat(role) FROM (SELECT role FROM solution_apps WHERE solution_id = solutions.id ORDER BY role)
    ) IS NOT 'OWNER,PARTNER'`,
  'a solution is not shown to its partner': `
    SELECT solution_id AS what FROM solution_apps JOIN apps ON apps.id = app_id JOIN nodes ON nodes.id = solution_id
    WHERE apps.business_id <> nodes.business_id AND NOT EXISTS (
      SELECT 1 FROM node_shares AS s WHERE s.node_id = solution_id AND s.business_id = apps.business_id)`,
  'a user is in a group and asks to be': `
    SELECT user_wa_id AS what FROM group_participants JOIN group_join_requests USING (group_id, user_wa_id)`,
  'a bot is of a number that is not there': `
    SELECT id AS what FROM bots WHERE phone_number_id IS NOT NULL AND phone_number_id NOT IN (SELECT id FROM phone_numbers)`,
  'an event has not its one delivery to the app that hears of all': `
    SELECT id AS what FROM events WHERE NOT ${isAboutConnection} AND (
      SELECT count(*) FROM deliveries WHERE event_id = events.id AND app_id = '${ids.application}') <> 1`,
  'an event of a connection goes to an app that is not connected': `
    SELECT id AS what FROM events WHERE ${isAboutConnection} AND (
      SELECT group_concat(app_id) FROM deliveries WHERE event_id = events.id) IS NOT '${connector.id}'`,
  'a connection has not one event, or its end has not one': `
    SELECT account_id AS what FROM connections AS c WHERE (
      SELECT count(*) FROM events WHERE ${isAboutConnection} AND events.subject_id = c.id) <> 1 + (ended_time IS NOT NULL)`,
  'a token outlives its connection': `
    SELECT tokens.id AS what FROM tokens JOIN connections AS c ON c.id = connection_id
    WHERE c.ended_time IS NOT NULL AND tokens.revoked_time IS NULL`,
  'a code outlives its connection, or was used for no token': `
    SELECT account_id AS what FROM sign_up_codes JOIN connections AS c ON c.id = connection_id
    WHERE c.ended_time IS NOT NULL OR (used_time IS NULL) <> (token_id IS NULL)`,
  'a connection gives no access, or access rests on none': `
    SELECT account_id AS what FROM connections AS c JOIN apps ON apps.id = app_id WHERE ended_time IS NULL AND NOT EXISTS (
      SELECT 1 FROM account_access AS a
      WHERE a.account_id = c.account_id AND a.business_id = apps.business_id AND relation = 'connected')
    UNION ALL SELECT account_id FROM account_access AS a WHERE relation = 'connected' AND NOT EXISTS (
      SELECT 1 FROM connections AS c JOIN apps ON apps.id = app_id
      WHERE c.account_id = a.account_id AND apps.business_id = a.business_id AND ended_time IS NULL)`,
  'a replay runs and nothing works on it, or has ended and does not say when': `
    SELECT id AS what FROM replays WHERE (state = 'running') <> (finished_time IS NULL) OR (state = 'running' AND NOT EXISTS (
      SELECT 1 FROM timers WHERE kind = 'deliveries.replay' AND json_extract(payload, '$.id') = replays.id))`,
  'a delivery is half finished': `
    SELECT id AS what FROM deliveries WHERE (state = 'waiting') <> (finished_time IS NULL)`,
  'a delivery was made without a try that says so': `
    SELECT id AS what FROM deliveries AS d WHERE state = 'delivered' AND NOT EXISTS (
      SELECT 1 FROM delivery_attempts WHERE delivery_id = d.id AND status BETWEEN 200 AND 299)`,
  'the tries at a delivery are not as many as it counts': `
    SELECT id AS what FROM deliveries AS d
    WHERE attempts + earlier_attempts <> (SELECT count(*) FROM delivery_attempts WHERE delivery_id = d.id)`,
  'something waits in a lane that nobody will come to': `
    SELECT id AS what FROM lanes WHERE next_due IS NULL AND EXISTS (
      SELECT 1 FROM deliveries WHERE lane_id = lanes.id AND state = 'waiting')`,
  'a delivery belongs to no conversation': `SELECT id AS what FROM deliveries WHERE conversation = ''`,
  'a message was taken in without its event': `
    SELECT message_id AS what FROM received_messages WHERE message_id NOT IN (
      SELECT json_extract(value, '$.messages[0].id') FROM events WHERE field = 'messages')`,
  'there is not one key in use that seals': `
    SELECT count(*) AS what FROM sealing_keys WHERE in_use HAVING count(*) <> 1`,
  ...Object.fromEntries(
    Object.entries(sealedColumns).map(([name, { table, column, key }]) => [
      `a value of ${name} is not sealed with the key in use`,
      `SELECT ${key.join(" || ' ' || ")} AS what FROM ${table}
        WHERE ${column} NOT LIKE (SELECT 's1:' || id || ':%' FROM sealing_keys WHERE in_use)`,
    ]),
  ),
  'there is not one signing key in use': `
    SELECT count(*) AS what FROM signing_keys WHERE retired_time IS NULL HAVING count(*) <> 1`,
}

function neverDue(table: string, kind: string, member: string): string {
  return `SELECT id AS what FROM ${table} WHERE id NOT IN (
    SELECT json_extract(payload, '$.${member}') FROM timers WHERE kind = '${kind}')`
}

/** What is wrong between the rows of a store, whatever was written into it. */
export function findRowProblems(store: StoreView): string[] {
  const problems: string[] = []
  for (const { integrity_check: verdict } of store.rows<{ integrity_check: string }>('PRAGMA integrity_check')) {
    if (verdict !== 'ok') problems.push(`integrity_check: ${verdict}`)
  }
  for (const broken of store.rows('PRAGMA foreign_key_check'))
    problems.push(`foreign_key_check: ${JSON.stringify(broken)}`)
  return [...problems, ...findNodeProblems(store), ...findBrokenRules(store)]
}

/** Every id of a path stands for one resource, and every resource with an id can be found by it, under its account. */
function findNodeProblems(store: StoreView): string[] {
  const problems: string[] = []
  const kinds = Object.keys(nodeKinds)
  const strange = store.rows<{ kind: string }>(
    `SELECT DISTINCT kind FROM nodes WHERE kind NOT IN (${kinds.map((kind) => `'${kind}'`).join(', ')})`,
  )
  problems.push(...strange.map(({ kind }) => `there are nodes of the kind ${kind}, which nothing knows`))
  for (const kind of kinds) {
    const home = homes[kind]
    if (!home) {
      problems.push(`where things of the kind ${kind} are is not known: say so in homes (crash-writes/check-rows.ts)`)
      continue
    }
    const [table, id, account] = home
    const things = `SELECT ${id} AS id, ${account} AS account FROM ${table}`
    const lost = store.rows<{ id: string }>(
      `SELECT id FROM nodes WHERE kind = '${kind}' AND id NOT IN (SELECT ${id} FROM ${table})`,
    )
    const unlisted = store.rows<{ id: string }>(
      `SELECT id FROM (${things}) WHERE id NOT IN (SELECT id FROM nodes WHERE kind = '${kind}')`,
    )
    const displaced = store.rows<{ id: string }>(
      `SELECT id FROM nodes JOIN (${things}) AS thing USING (id) WHERE kind = '${kind}' AND nodes.account_id IS NOT thing.account`,
    )
    problems.push(...lost.map((node) => `the node ${node.id} has no row in ${table}`))
    problems.push(...unlisted.map((thing) => `${thing.id} of ${table} has no node`))
    problems.push(...displaced.map((node) => `the node ${node.id} and its row in ${table} are of different accounts`))
  }
  return problems
}

function findBrokenRules(store: StoreView): string[] {
  return Object.entries(rules).flatMap(([rule, sql]) =>
    store.rows<{ what: unknown }>(sql).map(({ what }) => `${rule}: ${what}`),
  )
}
