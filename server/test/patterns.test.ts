import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countMakers, listMade } from './harness/source-patterns.ts'

/** Only a pattern that is made while the sources are loaded can be gathered; patterns.long.test.ts measures that each is linear. */
test('all patterns that the sources make of texts are made while they are loaded', async () => {
  const made = await listMade()
  for (const [file, count] of countMakers()) {
    const places = new Set(made.filter((pattern) => pattern.file === file).map(({ place }) => place))
    assert.equal(places.size, count, `${file} makes patterns elsewhere than at the level of the module`)
  }
  assert.ok(made.length > 10, 'the modules were loaded')
})
