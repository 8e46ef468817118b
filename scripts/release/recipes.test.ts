import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { load } from 'js-yaml'
import { settings } from '../../server/src/settings/index.ts'

interface Service {
  readonly image?: string
  readonly name?: string
  readonly env?: object
  readonly environment?: object
  readonly variables?: object
}

const page = readFileSync(new URL('../../docs/ci.md', import.meta.url), 'utf8')
const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text as string)

/** Services with our image, wherever a file has them. */
function findServices(value: unknown): Service[] {
  if (typeof value !== 'object' || value === null) return []
  const one = value as Service
  const image = one.image ?? one.name
  const own = typeof image === 'string' && /\/switchboard:\d/.test(image) ? [one] : []
  return [...own, ...Object.values(value).flatMap(findServices)]
}

describe('the recipes for CI', () => {
  it('are YAML, and give our image settings that exist', () => {
    assert.equal(blocks.length, 5)
    const services = blocks.flatMap((block) => findServices(load(block)))
    assert.equal(services.length, 3)
    const known = new Set(['NODE_ENV', ...Object.values(settings).map(({ name }) => name)])
    for (const { env, environment, variables } of services) {
      const given = Object.keys(env ?? environment ?? variables ?? {})
      assert.deepEqual(given, ['NODE_ENV', 'ALLOW_DEMO_TOKENS'])
      assert.ok(given.every((name) => known.has(name)))
    }
  })

  it('use the port and the health check that the image has', () => {
    assert.match(dockerfile, /^EXPOSE 8080$/m)
    assert.match(dockerfile, /^HEALTHCHECK /m)
    assert.doesNotMatch(page.replaceAll('127.0.0.1:3000', ''), /:(?!8080)\d{4}\b/)
  })
})
