import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status: { readonly code?: number }
}

export interface CollectedPoint {
  readonly attributes: readonly Attribute[]
  readonly asDouble?: number
  readonly asInt?: number | string
  readonly count?: number | string
  readonly sum?: number
  readonly bucketCounts?: readonly (number | string)[]
  readonly explicitBounds?: readonly number[]
  readonly startTimeUnixNano: string
  readonly timeUnixNano: string
}

interface CollectedData {
  readonly dataPoints: readonly CollectedPoint[]
  readonly isMonotonic?: boolean
  readonly aggregationTemporality?: number
}

export interface CollectedMetric {
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly gauge?: CollectedData
  readonly sum?: CollectedData
  readonly histogram?: CollectedData
}

/** A collector of OpenTelemetry, as far as an exporter sees one. */
export class Collector {
  readonly spans: CollectedSpan[] = []
  /** Those of the last post. */
  metrics: readonly CollectedMetric[] = []
  /** Of the last post of each path. */
  readonly resources = new Map<string, Readonly<Record<string, unknown>>>()
  readonly posts = new Map<string, number>()
  isBroken = false
  readonly #server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url ?? ''
      this.posts.set(path, this.countPosts(path) + 1)
      if (this.isBroken) {
        response.writeHead(400).end()
        return
      }
      this.#take(path, JSON.parse(Buffer.concat(chunks).toString()))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })

  /** Returns its address. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  countPosts(path: string): number {
    return this.posts.get(path) ?? 0
  }

  ofTrace(trace: string, name?: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === trace && (name === undefined || span.name === name))
  }

  findMetric(name: string): CollectedMetric | undefined {
    return this.metrics.find((metric) => metric.name === name)
  }

  #take(path: string, { resourceSpans, resourceMetrics }: Posted): void {
    if (path === '/v1/metrics') this.metrics = []
    for (const { resource, scopeSpans, scopeMetrics } of resourceSpans ?? resourceMetrics ?? assert.fail(path)) {
      this.resources.set(path, readAttributes(resource.attributes))
      for (const { spans } of scopeSpans ?? []) this.spans.push(...spans)
      this.metrics = [...this.metrics, ...(scopeMetrics ?? []).flatMap(({ metrics }) => metrics)]
    }
  }
}

interface PostedResource {
  readonly resource: { readonly attributes: readonly Attribute[] }
  readonly scopeSpans?: readonly { readonly spans: readonly CollectedSpan[] }[]
  readonly scopeMetrics?: readonly { readonly metrics: readonly CollectedMetric[] }[]
}

interface Posted {
  readonly resourceSpans?: readonly PostedResource[]
  readonly resourceMetrics?: readonly PostedResource[]
}

export function readAttributes(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
