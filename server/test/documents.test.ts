import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { cutSections, writeSpecPages } from '../../scripts/generate/spec-pages.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { buildOperations } from '../src/operations.ts'
import { findingCodes, findingKinds } from '../src/resources/calls/sdp/finding-kinds.ts'
import { worldParts } from '../src/world/parts.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const operations = buildOperations(chooseVocabulary('msgapp'))

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

async function findPages(pattern: string): Promise<string[]> {
  const pages: string[] = []
  const isForeign = (path: string) => /(^|\/)(node_modules|data)$/.test(path)
  for await (const path of glob(pattern, { cwd: root, exclude: isForeign })) pages.push(path)
  return pages.sort()
}

/** What a page says besides its code, which may hold anything. */
function withoutCode(page: string): string {
  return page.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '`code`')
}

/** Where a page leads: links, pictures, and those that are written in HTML. */
function findTargets(page: string): string[] {
  const text = withoutCode(page)
  const marked = [...text.matchAll(/\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)/g)]
  const html = [...text.matchAll(/<(?:a|img|source)\b[^>]*\b(?:href|src|srcset)="([^"]*)"/g)]
  return [...marked, ...html].map(([, target = '']) => target)
}

/** The places in a page that a link can name: its headings as GitHub calls them, and anchors. */
function findAnchors(page: string): Set<string> {
  const anchors = new Set([...page.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id as string))
  const seen = new Map<string, number>()
  for (const [, heading = ''] of page.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-')
    const before = seen.get(slug) ?? 0
    seen.set(slug, before + 1)
    anchors.add(before === 0 ? slug : `${slug}-${before}`)
  }
  return anchors
}

/** Says what is wrong with a link of a page, if anything is. */
function findFault(path: string, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return target.startsWith('https://') ? undefined : 'only https leads out of the project'
  const [file = '', anchor] = target.split('#')
  const found = file === '' ? join(root, path) : join(root, dirname(path), decodeURIComponent(file))
  if (relative(root, found).startsWith('..')) return 'it leads out of the project'
  if (!existsSync(found)) return 'there is no such file'
  if (anchor === undefined) return undefined
  if (!found.endsWith('.md')) return 'only pages have anchors'
  return findAnchors(readFileSync(found, 'utf8')).has(anchor) ? undefined : 'the page has no such heading'
}

/** The codes in a row of a table of findings, each with its level: the codes first, or the one level of them all. */
function readFindings(row: string): string[] {
  const [, first = '', second = ''] = row.split('|')
  const codesOf = (cell: string) => findingCodes.filter((code) => cell.includes(`\`${code}\``))
  const level = /^ `(error|warning)` $/.exec(first)?.[1]
  if (level !== undefined) return codesOf(second).map((code) => `${code} ${level}`)
  const codes = codesOf(first)
  const levels = second.match(/error|warning/g) ?? []
  const [only] = codes
  if (codes.length === 1) return levels.map((one) => `${only} ${one}`)
  return codes.map((code, index) => `${code} ${levels[index] ?? levels[0]}`)
}

describe('the documents', () => {
  test('every link in every page leads somewhere, to the heading that it names', async () => {
    const pages = await findPages('**/*.md')
    assert.ok(pages.includes('README.md') && pages.includes('docs/spec/chapters/calls.md'))
    const targets = pages.flatMap((path) => findTargets(read(path)).map((target) => ({ path, target })))
    assert.ok(targets.length > 200, `${targets.length} links are found`)
    const faults = targets.flatMap(({ path, target }) => {
      const fault = findFault(path, target)
      return fault === undefined ? [] : [`${path}: ${target}: ${fault}`]
    })
    assert.deepEqual(faults, [])
  })

  test('a link to nowhere, out of the project or to a heading that is not there is found', () => {
    assert.equal(findFault('README.md', 'docs/none.md'), 'there is no such file')
    assert.equal(findFault('README.md', '../elsewhere'), 'it leads out of the project')
    assert.equal(findFault('README.md', '#no-such-heading'), 'the page has no such heading')
    assert.equal(findFault('README.md', 'http://example.com'), 'only https leads out of the project')
    assert.equal(findFault('docs/tour.md', '../README.md#first-walk'), undefined)
    assert.deepEqual(findTargets('[a](b.md#c) `[no](x)` <img src="d.svg"> [e (f)](g_(h).md)'), [
      'b.md#c',
      'g_(h).md',
      'd.svg',
    ])
    assert.deepEqual([...findAnchors('# A `b.c` d!\n## Same\n## Same\n')], ['a-bc-d', 'same', 'same-1'])
  })

  test('no page or comment names a document of docs/ that is not there', async () => {
    const sources = await findPages('{server,scripts,deploy,worlds}/**/*.{ts,mjs,yaml,service}')
    for (const path of [...sources, ...(await findPages('**/*.md'))]) {
      for (const [named] of read(path).matchAll(/\bdocs\/[\w-]+(?:\/[\w-]+)*\.md\b/g)) {
        assert.ok(existsSync(join(root, named)) || named === 'docs/none.md', `${path} names ${named}`)
      }
    }
  })

  test('every key of the world file is in docs/interface.md, with an example and what its list means', () => {
    const [, page = ''] = read('docs/interface.md').split('\n## The world file\n')
    const [example = '', meaning = ''] = page.split('\n### Lists in a world file\n')
    const undescribed = worldParts.filter(({ key, form }) => {
      const isExplained = form !== 'list' || (meaning.split('\n## ')[0] ?? '').includes(`\`${key}\``)
      return !example.includes(`${key}:`) || !isExplained
    })
    assert.deepEqual(
      undescribed.map(({ key }) => key),
      [],
      'add each key to "The world file" of docs/interface.md, and a list also to "Lists in a world file" there',
    )
  })

  test('every finding of a call is in each page that lists findings, at its level', () => {
    const expected = Object.values(findingKinds).map(({ code, level }) => `${code} ${level}`)
    for (const path of ['docs/voice.md', 'docs/spec/calls-with-sound.md', 'docs/interface.md']) {
      const found = read(path).split('\n').flatMap(readFindings)
      assert.deepEqual(found.sort(), expected.sort(), path)
    }
  })

  test('a page about how a part works is half a page: at most 45 lines', async () => {
    const pages = await findPages('docs/how/*.md')
    assert.ok(pages.length > 6)
    assert.deepEqual(
      pages.filter((path) => read(path).split('\n').length > 46),
      [],
    )
  })
})

interface Decision {
  readonly number: string
  readonly title: string
  /** The status as it stands on the page, with its links. */
  readonly status: string
  /** The numbers of the pages that changed this one, and of those that this one changed. */
  readonly changedBy: readonly string[]
  readonly amends: readonly string[]
}

const link = String.raw`\[\d{4}\]\(\d{4}-[\w-]+\.md\)`
const statusPattern = new RegExp(
  String.raw`^# (\d{4}) (.+)\n\nStatus: (accepted|(?:amended|superseded) by ${link}(?:, ${link})*)(?:\. Amends (${link}(?:, ${link})*))?\n\n`,
)

function readDecision(page: string): Decision | undefined {
  const [, number = '', title = '', status, amends] = statusPattern.exec(page) ?? []
  if (status === undefined) return undefined
  const numbers = (links = '') => [...links.matchAll(/\[(\d{4})\]/g)].map(([, one]) => one as string)
  return { number, title, status, changedBy: numbers(status), amends: numbers(amends) }
}

describe('the decisions', () => {
  let decisions: Map<string, Decision>
  before(async () => {
    const paths = await findPages('docs/decisions/0*.md')
    decisions = new Map(
      paths.map((path) => {
        const decision = readDecision(read(path))
        assert.ok(decision, `${path} needs a title with its number, and below it "Status: accepted" or "amended by"`)
        assert.ok(path.startsWith(`docs/decisions/${decision.number}-`), `${path} has another number in its title`)
        return [decision.number, decision]
      }),
    )
    assert.ok(decisions.size > 60)
  })

  test('a decision that a later one changed names it, and the later one names the earlier', () => {
    const changed = [...decisions.values()].flatMap((one) =>
      one.changedBy.map((later) => `${later} amends ${one.number}`),
    )
    const amends = [...decisions.values()].flatMap((one) =>
      one.amends.map((earlier) => `${one.number} amends ${earlier}`),
    )
    assert.deepEqual(changed.sort(), amends.sort())
    for (const { number, changedBy } of decisions.values()) {
      assert.ok(
        changedBy.every((later) => later > number),
        `${number} is changed by an earlier decision`,
      )
    }
  })

  test('the index of decisions has the number, title and status of each', () => {
    const rows = [...read('docs/decisions/README.md').matchAll(/^\| \[(\d{4})\]\([^)]+\) \| (.+?) \| (.+) \|$/gm)]
    assert.deepEqual(
      rows.map(([, number, title, status]) => [number, title, status]),
      [...decisions.values()].map(({ number, title, status }) => [number, title, status]),
    )
  })

  test('a decision without a status, or with another one, is found', () => {
    assert.equal(readDecision('# 0001 A title\n\nText.\n'), undefined)
    assert.equal(readDecision('# 0001 A title\n\nStatus: open\n\nText.\n'), undefined)
    assert.equal(readDecision('# 0001 A title\n\nStatus: amended by 0002\n\nText.\n'), undefined)
    assert.deepEqual(readDecision('# 0002 A title\n\nStatus: accepted. Amends [0001](0001-a.md)\n\nText.\n')?.amends, [
      '0001',
    ])
  })
})

describe('the specification by chapter', () => {
  let pages: Map<string, string>
  before(async () => {
    pages = new Map((await findPages('docs/spec/chapters/*.md')).map((path) => [path, read(path)]))
  })

  for (const source of ['docs/spec/management-api.md', 'docs/spec/decisions.md']) {
    test(`every section of ${source} is on one page, word for word`, () => {
      const sections = cutSections(read(source)).filter(({ text }) => text !== '')
      assert.ok(sections.length > 10)
      for (const { key, text } of sections) {
        const holding = [...pages].filter(([, page]) => page.includes(`\n\n${text}\n`))
        assert.equal(holding.length, 1, `"${key}" is on ${holding.map(([path]) => path).join(', ') || 'no page'}`)
      }
    })

    test(`nothing of ${source} is lost when it is cut`, () => {
      const cut = cutSections(read(source)).map(({ text }) => text)
      const bare = (text: string) =>
        text
          .replaceAll(/^#{1,3} .*$/gm, '')
          .replaceAll(/\s+/g, ' ')
          .trim()
      assert.equal(bare(cut.join('\n\n')), bare(read(source)))
    })
  }

  test('every operation is on one page once, with its folder, which holds its row, and its line in operations.md', () => {
    const text = [...pages.values()].join('\n')
    const anchors = findAnchors(read('docs/operations.md'))
    for (const operation of operations) {
      const { name } = operation
      assert.ok(anchors.has(name), name)
      const folder = join('server/src/resources', operation.chapter)
      assert.ok(statSync(join(root, folder)).isDirectory(), folder)
      const lines = text.split('\n').filter((line) => line.startsWith(`| [\`${name}\`](../../operations.md#${name}) |`))
      assert.equal(lines.length, 1, `${name} is listed ${lines.length} times`)
      assert.ok(lines[0]?.endsWith(`[${operation.chapter}/](../../../${folder}) |`), name)
    }
  })

  test('the row of every operation stands in the folder that is named', async () => {
    for (const operation of operations) {
      const { name } = operation
      const sources = await findPages(`server/src/resources/${operation.chapter}/**/*.ts`)
      const [chapter, verb] = name.split('.')
      // Rows that are made alike have a template for a name.
      const row = new RegExp(`name: (?:'${chapter}\\.${verb}'|\`${chapter}\\.\\$\\{)`)
      assert.ok(
        sources.some((path) => row.test(read(path))),
        `${name} is not defined in ${operation.chapter}/`,
      )
    }
  })

  test('a section that is on no page, or on two, stops the generator', () => {
    const sources = {
      specification: read('docs/spec/management-api.md'),
      decisions: read('docs/spec/decisions.md'),
      titleOf: (reason: string) => reason,
    }
    const generate = (change: Partial<typeof sources>) => () => writeSpecPages(operations, { ...sources, ...change })
    assert.throws(generate({ decisions: `${sources.decisions}\n## Faxes\nNone.\n` }), /"Faxes" .* is on no page/)
    const shorter = sources.specification.replace(/^### Calls$[\s\S]*?^(?=### )/m, '')
    assert.throws(generate({ specification: shorter }), /no section "Endpoints\/Calls"/)
  })
})
