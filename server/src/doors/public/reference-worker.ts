import { parentPort } from 'node:worker_threads'
import apiReference from '@scalar/fastify-api-reference'
import { fastify } from 'fastify'
import { pack } from '../../http/packed.ts'

/**
 * Runs in a thread of its own and ends: loading the package takes a fifth of a second and some ten megabytes that nothing
 * needs afterwards. The package holds the script inside its code, so it is asked for it over the route that it serves.
 */
const server = fastify()
await server.register(apiReference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
const response = await server.inject('/docs/js/scalar.js')
await server.close()
if (response.statusCode !== 200) throw new Error(`the API reference gave its script with status ${response.statusCode}`)
parentPort?.postMessage(await pack(response.rawPayload, 'text/javascript; charset=utf-8'))
