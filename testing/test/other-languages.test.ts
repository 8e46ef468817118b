import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

for (const [language, file] of [
  ['python', 'testing/examples/python/test_echo_bot.py'],
  ['go', 'testing/examples/go/echo_bot_test.go'],
] as const) {
  test(`what docs/testing.md shows in ${language} is in the example that runs`, () => {
    const blocks = [...read('docs/testing.md').matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))]
    assert.ok(blocks.length > 0)
    for (const [, block = ''] of blocks) assert.ok(read(file).includes(block.trimEnd()), block)
  })
}
