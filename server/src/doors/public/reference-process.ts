import apiReference from '@scalar/fastify-api-reference'
import { fastify } from 'fastify'
import { pack } from '../../http/packed.ts'

/**
 * Runs as a process of its own and ends: loading and packing would hold up requests for most of a second and leave some
 * eighty megabytes behind. The package holds the script inside its code, so it is asked for it over the route that it serves.
 */
const server = fastify()
await server.register(apiReference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
const response = await server.inject('/docs/js/scalar.js')
await server.close()
if (response.statusCode !== 200) throw new Error(`the API reference gave its script with status ${response.statusCode}`)
process.send?.(await pack(response.rawPayload, 'text/javascript; charset=utf-8'))
