import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { isSame } from './clients.ts'

const sources = join(import.meta.dirname, '../..')
/** A comparison that ends at the first difference, of something that its name calls secret, with something else than a literal. */
const early =
  /\b\w*(secret|verifier|challenge|proof)\)?\s*[!=]==(?!\s*(undefined|null|''|true|false))|[!=]==\s*[\w.]*(secret|verifier|challenge|proof)\b/i

describe('secrets of a sign-up', () => {
  test('are the same only to the letter, and may be of any length', () => {
    assert.equal(isSame('secret', 'secret'), true)
    assert.equal(isSame('', ''), true)
    assert.equal(isSame('ключ', 'ключ'), true)
    for (const other of ['', 'secre', 'secret ', 'Secret', 'terces', 'x'.repeat(10_000)]) {
      assert.equal(isSame('secret', other), false, other)
    }
  })

  test('are compared in constant time wherever they are checked', () => {
    const files = globSync(['resources/{sign-up,tokens}/**/*.ts', 'auth/*.ts', 'http/appsecret-proof.ts'], {
      cwd: sources,
    })
    const checked = files.filter((file) => !file.endsWith('.test.ts'))
    assert.ok(checked.includes(join('resources', 'sign-up', 'exchange.ts')), String(checked))
    for (const file of checked) {
      for (const line of readFileSync(join(sources, file), 'utf8').split('\n')) {
        assert.ok(!early.test(line), `${file}: ${line.trim()}`)
      }
    }
    for (const caught of ['if (secret !== given)', 'given === app.client_secret', 'code_verifier === other']) {
      assert.match(caught, early)
    }
  })
})
