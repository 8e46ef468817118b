import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { checkChangelog, compareVersions, parseChangelog } from './changelog.ts'

const good = `# Changelog

Words about the file.

## 0.3.0 (Unreleased)

What is new, in short.

### Server

#### Breaking

- \`messages.send\` requires \`to\`.

#### Added

- One thing
  over two lines.
- Another.

### Client

#### Fixed

- A retry.

## 0.2.0 (2026-11-18)

### Testing

#### Added

- The first thing.
`

describe('a changelog', () => {
  it('is read by version, part and kind', () => {
    const { releases, problems } = parseChangelog(good)
    assert.deepEqual(problems, [])
    assert.deepEqual(
      releases.map(({ version, date, entries }) => [
        version,
        date,
        entries.map((one) => Object.values(one).join(': ')),
      ]),
      [
        [
          '0.3.0',
          undefined,
          [
            'Server: Breaking: `messages.send` requires `to`.',
            'Server: Added: One thing over two lines.',
            'Server: Added: Another.',
            'Client: Fixed: A retry.',
          ],
        ],
        ['0.2.0', '2026-11-18', ['Testing: Added: The first thing.']],
      ],
    )
    assert.equal(releases[1]?.text, '### Testing\n\n#### Added\n\n- The first thing.')
  })

  const damages: [what: string, from: string, to: string, problem: RegExp][] = [
    ['a version without a date', '0.2.0 (2026-11-18)', '0.2.0', /is not "1.2.3 \(2026-11-15\)"/],
    ['a version in another form', '0.2.0 (2026-11-18)', '0.2 (2026-11-18)', /is not "1.2.3/],
    ['versions in the wrong order', '0.2.0 (', '0.4.0 (', /0\.4\.0 is not older than 0\.3\.0/],
    ['an old version that is unreleased', '(2026-11-18)', '(Unreleased)', /only the newest version/],
    ['a part that is none', '### Client', '### Sdk', /"Sdk" is not one of Server/],
    ['a kind that is none', '#### Fixed', '#### Mended', /"Mended" is not one of Breaking/],
    ['a part twice', '### Client', '### Server', /Server is there twice/],
    ['a kind twice', '#### Added\n\n- One', '#### Breaking\n\n- One', /Server Breaking is there twice/],
    ['kinds in the wrong order', '#### Breaking', '#### Fixed', /Server Added comes too late/],
    ['a kind without an entry', '- A retry.\n', '', /Client Fixed, above, has no entry/],
    ['a part without an entry', '#### Fixed\n\n- A retry.\n', '', /Client, above, has no entry/],
    ['an entry outside of a kind', '#### Fixed\n', '', /belongs under a part and a kind/],
    ['a line that is no entry', '- A retry.', 'A retry.', /begins with "- "/],
    ['an end without an entry', '- The first thing.\n', '', /Testing Added, at the end, has no entry/],
  ]
  for (const [what, from, to, problem] of damages) {
    it(`is refused with ${what}, and the line is named`, () => {
      assert.ok(good.includes(from), from)
      const { problems } = parseChangelog(good.replace(from, to))
      assert.match(problems.join('\n'), problem)
      assert.match(problems[0] ?? '', /^CHANGELOG\.md(:\d+)?: /)
    })
  }

  it('must begin with the version that is released, and have its date', () => {
    assert.deepEqual(checkChangelog(good, '0.3.0', false), [])
    assert.match(checkChangelog(good, '0.3.0', true).join(), /0\.3\.0 has no date/)
    assert.match(checkChangelog(good, '0.4.0', false).join(), /the newest section is 0\.3\.0, not 0\.4\.0/)
    assert.match(
      checkChangelog('# Changelog\n\n## 1.0.0 (2026-11-18)\n', '1.0.0', true).join(),
      /1\.0\.0 has no entries/,
    )
    assert.match(checkChangelog('', '1.0.0', true).join(), /not there/)
  })

  it('of this project is of the form', () => {
    const text = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
    assert.deepEqual(parseChangelog(text).problems, [])
  })
})

it('versions are compared as numbers', () => {
  assert.deepEqual(['0.10.0', '0.9.1', '1.0.0', '0.9.0'].sort(compareVersions), ['0.9.0', '0.9.1', '0.10.0', '1.0.0'])
  assert.equal(compareVersions('1.2.3', '1.2.3'), 0)
})
