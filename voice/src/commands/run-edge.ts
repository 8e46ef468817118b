import { createServer } from 'node:http'
import type { Switchboard } from '@switchboard/client'
import type { IceServers } from '../media/ice-servers.ts'
import { Edge, type EdgeCounts } from '../platform/edge.ts'
import { listen, stopListening } from '../platform/listen.ts'
import { makeEventWriter, type Output } from './event-writer.ts'

export interface EdgeCommand {
  readonly client: Switchboard
  readonly host: string
  readonly port: number
  readonly addresses?: readonly string[] | undefined
  readonly iceServers?: IceServers | undefined
  readonly json: boolean
  /** Resolves when the process is to end. */
  readonly stopped: Promise<void>
}

/** Runs the edge that plays the users' phones, with the paths that health checks and Prometheus read; the code that its process ends with. */
export async function runEdge(command: EdgeCommand, output: Output): Promise<number> {
  const { client, addresses, iceServers, stopped } = command
  // Standard output has the one line that programs wait for.
  const write = { out: output.problem, problem: output.problem }
  const edge = await Edge.open({ client, addresses, iceServers, onEvent: makeEventWriter(write, command.json) })
  try {
    const server = createServer((request, response) => {
      const { status, type, body } = respond((request.url ?? '').split('?', 1)[0] ?? '', edge)
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
    })
    output.out(`switchboard listening on ${await listen(server, command.host, command.port)}`)
    try {
      await Promise.race([stopped, edge.refused])
    } finally {
      await stopListening(server)
    }
    return 0
  } finally {
    await edge.close()
  }
}

interface Response {
  readonly status: number
  readonly type: string
  readonly body: string
}

const json = 'application/json; charset=utf-8'

function respond(path: string, edge: Edge): Response {
  if (path === '/healthz') return { status: 200, type: json, body: '{"status":"alive"}' }
  if (path === '/readyz') {
    if (edge.isListening) return { status: 200, type: json, body: '{"status":"ready"}' }
    const reason = 'the stream of the gateway is not open'
    return { status: 503, type: json, body: JSON.stringify({ status: 'not ready', reason }) }
  }
  if (path === '/metrics') return { status: 200, type: 'text/plain; version=0.0.4', body: writeMetrics(edge) }
  return { status: 404, type: json, body: '{"error":{"message":"An edge has /healthz, /readyz and /metrics alone."}}' }
}

const metrics: readonly (readonly [name: string, kind: string, help: string, read: (counts: EdgeCounts) => number])[] =
  [
    ['switchboard_edge_calls_taken_total', 'counter', 'Calls that this edge took.', ({ taken }) => taken],
    ['switchboard_edge_calls_open', 'gauge', 'Calls that go on at this edge.', ({ open }) => open],
    ['switchboard_edge_calls_lost_total', 'counter', 'Calls that lost their connection.', ({ lost }) => lost],
    ['switchboard_edge_packets_sent_total', 'counter', 'Packets sent in ended calls.', (counts) => counts.packetsSent],
    [
      'switchboard_edge_packets_heard_total',
      'counter',
      'Packets heard in ended calls.',
      (counts) => counts.packetsHeard,
    ],
    [
      'switchboard_edge_packets_missing_total',
      'counter',
      'Packets that never came.',
      (counts) => counts.packetsMissing,
    ],
  ]

function writeMetrics(edge: Edge): string {
  const { counts } = edge
  const own = metrics.map(([name, kind, help, read]) => writeMetric(name, kind, help, read(counts)))
  const listening = edge.isListening ? 1 : 0
  const { user, system } = process.cpuUsage()
  return [
    ...own,
    writeMetric('switchboard_edge_listening', 'gauge', 'Whether the stream of the gateway is open.', listening),
    writeMetric('process_cpu_seconds_total', 'counter', 'Processor time.', (user + system) / 1e6),
    writeMetric('process_resident_memory_bytes', 'gauge', 'Resident memory.', process.memoryUsage.rss()),
  ].join('')
}

function writeMetric(name: string, kind: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${name} ${value}\n`
}
