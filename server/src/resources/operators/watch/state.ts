import { Type } from 'typebox'
import { second } from '../../../base/time/duration.ts'
import { ResultCache } from '../../../base/work/result-cache.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import { defineOperatorRead } from '../../../graph/define.ts'
import { writeTimestamp } from '../../../graph/input/timestamps.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import type { ServiceFacts } from '../../../graph/ports.ts'
import { findDifferencesForOperators, livingMilliseconds } from '../../../processes/agreement.ts'
import { listProcessesForOperators } from '../../../processes/heartbeat.ts'
import { countNodesForOperators, readLanesForOperators } from './state-store.ts'

const processSchema = Type.Object({
  id: Type.String(),
  role: Type.String({ description: 'all, api or worker.' }),
  version: Type.String(),
  started_time: Type.String({ format: 'date-time' }),
  heard_time: Type.String({ format: 'date-time', description: 'When it last reported.' }),
  clock_offset: Type.Union([Type.Number(), Type.Null()], {
    description: "By how many seconds its clock is ahead of the database's; null when it did not say.",
  }),
  differing_settings: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description:
      'The rules of the platform and rate limits whose values differ from those of the process that responds; null for a process of an earlier release, which does not say.',
  }),
})

const stateSchema = Type.Object({
  version: Type.String({ description: 'Of the service.' }),
  vocabulary: Type.String({ description: 'The names on the wire.' }),
  versions: Type.Array(Type.String(), { description: 'Versions of the API that are served, oldest first.' }),
  newest_version: Type.String({ description: 'The version in docs and examples.' }),
  store: Type.String({ description: 'The kind of database.' }),
  sandbox: Type.Boolean({ description: 'Whether this is a test environment.' }),
  time: Type.String({ format: 'date-time', description: 'What time it is for the service.' }),
  clock: Type.Object({
    offset: Type.Number({
      description: "By how many seconds the process that answers is ahead of the database's clock.",
    }),
    held: Type.Union([Type.String(), Type.Null()], {
      description:
        "Why nothing is deleted or given up: its clock `differs` from the database's, or time has `jumped` forward by days and waits for ./switchboard clock accept. Null: it is.",
    }),
  }),
  sending: Type.Object({
    held_since: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description:
        'Since when webhooks, codes and fetches of links wait for ./switchboard restored --release. Null: they are sent.',
    }),
  }),
  counts: Type.Record(Type.String(), Type.Integer(), { description: 'How many nodes there are, by kind.' }),
  lanes: Type.Object({
    waiting: Type.Integer({ description: 'Deliveries that wait.' }),
    down: Type.Integer({ description: 'Subscribers that are down.' }),
    oldest_age: Type.Union([Type.Integer(), Type.Null()], {
      description: 'For how many seconds the oldest delivery has waited; null when none waits.',
    }),
  }),
  processes: Type.Array(processSchema, { description: 'Those that reported in the last minute.' }),
})

/** Of each service of this process. Counting a million nodes takes a second. */
const keptCounts = new WeakMap<ServiceFacts, ResultCache<Record<string, number>>>()

function countsOf(service: ServiceFacts): ResultCache<Record<string, number>> {
  const counts = keptCounts.get(service) ?? new ResultCache()
  keptCounts.set(service, counts)
  return counts
}

function nameLimits(limits: OperatorLimits | undefined): string {
  return JSON.stringify(limits ? [[...(limits.accounts ?? [])], [...(limits.businesses ?? [])]] : null)
}

export function stateOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.read_state',
      method: 'GET',
      path: '/operator/state',
      sentence: 'Reads the state of the service: version, store, counts of objects, subscribers and processes.',
      input: Type.Object({}),
      output: stateSchema,
      examples: {
        output: {
          version: '1.0.0',
          vocabulary: 'msgapp',
          versions: ['v23.0'],
          newest_version: 'v23.0',
          store: 'SQLite file',
          sandbox: true,
          time: '2026-06-01T12:00:00.000Z',
          clock: { offset: 0.012, held: null },
          sending: { held_since: null },
          counts: { account: 3, application: 2, business: 2, phone_number: 4 },
          lanes: { waiting: 2, down: 0, oldest_age: 12 },
          processes: [
            {
              id: '4bf92f3577b34da6a3ce929d0e0e4736',
              role: 'all',
              version: '1.0.0',
              started_time: '2026-06-01T08:00:00.000Z',
              heard_time: '2026-06-01T11:59:50.000Z',
              clock_offset: 0.012,
              differing_settings: [],
            },
          ],
        },
      },
      async run({ db, clock, limits, ports, settings }) {
        const { version, vocabulary, versions, store, process: self, sharedSettings } = ports.service
        const now = clock.now()
        const alive = await listProcessesForOperators(db, now - livingMilliseconds)
        const differences = await findDifferencesForOperators(db, sharedSettings, now)
        // This one is there, whenever it wrote last.
        const others = alive.filter(({ id }) => id !== self.id)
        const { hold = null, offset } = ports.health.readClock()
        const heldSince = ports.health.sendingHeldSince()
        return {
          version,
          vocabulary,
          versions: versions.all,
          newest_version: versions.newest,
          store,
          sandbox: settings.sandbox,
          time: writeTimestamp(now),
          clock: { offset: offset / second, held: hold },
          sending: { held_since: heldSince === undefined ? null : writeTimestamp(heldSince) },
          counts: await countsOf(ports.service).ask(nameLimits(limits), () => countNodesForOperators(db, limits)),
          lanes: await readLanesForOperators(db, limits, now),
          processes: [...others, { ...self, heard_time: now, clock_offset: offset }].map((process) => ({
            ...process,
            started_time: writeTimestamp(process.started_time),
            heard_time: writeTimestamp(process.heard_time),
            clock_offset: process.clock_offset === null ? null : process.clock_offset / second,
            differing_settings: process.id === self.id ? [] : (differences.get(process.id) ?? null),
          })),
        }
      },
    }),
  ]
}
