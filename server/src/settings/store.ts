import { join } from 'node:path'
import type { SecretKey } from '../base/keys/secret-key.ts'
import { duration, durationUpTo, integer, oneOf, secretKey, secretKeys } from '../base/setting-parsers.ts'
import { day, minute, second } from '../base/time/duration.ts'
import { postgresUrl } from '../db/hosts/database-url.ts'
import { type ObjectLocation, parseObjectLocation } from '../files/s3/location.ts'
import { type DatabasePooler, databasePoolers } from './config.ts'
import { define } from './setting.ts'

/** The database, the files, the keys of the secrets in them, and the clock. */
export const storeSettings = {
  dataDir: define({
    name: 'DATA_DIR',
    group: 'process',
    shownDefault: './data',
    sentence: 'The folder of the embedded database and of the media.',
    parse: (text) => text,
    fallback: () => './data',
  }),
  databaseUrl: define<string | undefined>({
    name: 'DATABASE_URL',
    group: 'process',
    shownDefault: 'unset: SQLite in DATA_DIR',
    sentence:
      'A postgres:// URL puts everything on PostgreSQL, for any number of server processes. It may name several hosts, such as postgres://user:password@a:5432,b:5432/database: the server finds the one that takes writes.',
    parse: postgresUrl,
    fallback: () => undefined,
  }),
  databaseConnections: define({
    name: 'DATABASE_CONNECTIONS',
    group: 'process',
    shownDefault: '10',
    sentence:
      'The most connections that a process opens to PostgreSQL: one for single reads, one for lists, with 5 or more one reserved for operators and health checks, and the rest for writes; no app can take all of the rest.',
    parse: integer(2, 1000),
    fallback: () => 10,
  }),
  databasePooler: define<DatabasePooler>({
    name: 'DATABASE_POOLER',
    group: 'process',
    shownDefault: 'none',
    sentence:
      'transaction when DATABASE_URL leads to a pooler that gives each transaction another connection, such as PgBouncer with pool_mode=transaction: then there are no prepared statements, and processes poll instead of notifying each other.',
    parse: oneOf(databasePoolers),
    fallback: () => 'none',
  }),
  databaseTimeout: define({
    name: 'DATABASE_TIMEOUT',
    group: 'process',
    shownDefault: '30s',
    sentence:
      'How long PostgreSQL may take to respond to a statement before its connection is dropped; a bit earlier the server ends the statement itself. Migrations may take longer.',
    parse: durationUpTo(10 * minute),
    fallback: () => 30 * second,
  }),
  databaseLockTimeout: define({
    name: 'DATABASE_LOCK_TIMEOUT',
    group: 'process',
    shownDefault: '10s',
    sentence:
      'How long a write waits on PostgreSQL for a lock, and twice that for a free connection, before it is refused with a transient error; a new connection may take half of that, and at least 5 s.',
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  filesUrl: define<ObjectLocation | undefined>({
    name: 'FILES_URL',
    group: 'platform',
    shownDefault: 'unset: folders in DATA_DIR',
    sentence:
      'Where media, pictures and uploads are stored: s3://bucket/prefix?endpoint=…&region=… for any S3-compatible object storage, so that machines need not share a disk.',
    parse: parseObjectLocation,
    fallback: () => undefined,
  }),
  filesTimeout: define({
    name: 'FILES_TIMEOUT',
    group: 'process',
    shownDefault: '10s',
    sentence:
      'How long a request to object storage may go without a response before it fails; a failed request is retried within this time.',
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  diskReserve: define({
    name: 'DISK_RESERVE',
    group: 'process',
    shownDefault: '100000000, or 5 % of a small disk',
    sentence:
      'How many bytes files leave free on the disk of DATA_DIR, so that the store can still be written to; with less, files are refused with 500 and `is_transient`.',
    parse: integer(0, Number.MAX_SAFE_INTEGER),
    fallback: () => undefined,
  }),
  secretsKey: define<SecretKey | undefined>({
    name: 'SECRETS_KEY',
    group: 'process',
    shownDefault: 'unset: the newest key in SECRETS_KEY_FILE',
    sentence:
      'The key that encrypts the secrets in the store: 32 bytes in base64 or hexadecimal, as ./switchboard secrets generate-key prints; the same for every process.',
    parse: secretKey,
    fallback: () => undefined,
    isSecret: true,
  }),
  secretsKeyOld: define<readonly SecretKey[]>({
    name: 'SECRETS_KEY_OLD',
    group: 'process',
    shownDefault: 'unset',
    sentence:
      'Earlier keys, separated by commas: they decrypt what was encrypted with them, until ./switchboard secrets rotate has encrypted it again.',
    parse: secretKeys,
    fallback: () => [],
    isSecret: true,
  }),
  secretsKeyFile: define({
    name: 'SECRETS_KEY_FILE',
    group: 'process',
    shownDefault: 'secrets.key in DATA_DIR',
    sentence: 'The file of keys, one per line, the newest first; created with mode 0600 if SECRETS_KEY is unset.',
    parse: (text) => text,
    fallback: ({ dataDir = '' }) => join(dataDir, 'secrets.key'),
  }),
  clockTolerance: define({
    name: 'CLOCK_TOLERANCE',
    group: 'platform',
    shownDefault: '60s',
    sentence:
      "How far the clock of a process may differ from PostgreSQL's; beyond it a process with workers is not ready, and it sends, deletes and gives up nothing.",
    parse: duration,
    fallback: () => minute,
  }),
  clockJump: define({
    name: 'CLOCK_JUMP',
    group: 'platform',
    shownDefault: '3d',
    sentence:
      'How far time may go forward while the service does not see it pass; after a longer jump nothing is deleted or given up until ./switchboard clock accept.',
    parse: duration,
    fallback: () => 3 * day,
  }),
}
