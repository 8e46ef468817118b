import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { checkGenerated, generateFiles, writeGenerated } from '../../scripts/generate/files.ts'
import { writeTable } from '../../scripts/generate/markdown.ts'
import { everyday } from '../../scripts/generate/readme.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { addressClasses, rateClasses } from '../src/limits/classes.ts'
import { buildOperations } from '../src/operations.ts'
import { settings } from '../src/settings/index.ts'

/** Made once: it takes a good part of a second. */
const files = generateFiles()

/** Whether the committed ones are up to date is a check of its own in scripts/test.ts. */
describe('generated files', () => {
  test('each is marked as generated at its start; the README where its generated part begins', () => {
    for (const [path, content] of files) {
      assert.match(path === 'README.md' ? content : content.slice(0, 300), /GENERATED|x-generated/, path)
    }
  })

  test('the page of operations has a line for every row', () => {
    const lines = (files.get('docs/operations.md') ?? '').split('\n')
    for (const row of buildOperations(chooseVocabulary('msgapp'))) {
      const { name, method } = row
      const sentence = row.sentence.replaceAll('|', '\\|')
      const path = 'versions' in row && row.versions === 'optional' ? `/{Version?}${row.path}` : row.path
      const line = lines.find((one) => one.startsWith(`| <a id="${name}"></a>\`${name}\` |`))
      assert.ok(line?.includes(`| ${method} | \`${path}\` | ${sentence} |`), name)
    }
  })

  const findSetting = (path: string, name: string) =>
    (files.get(path) ?? '').split('\n').filter((line) => line.startsWith(`| \`${name}\` |`))

  test('docs/settings.md has one line for every setting and rate class', () => {
    for (const { name, sentence } of Object.values(settings)) {
      const lines = findSetting('docs/settings.md', name)
      assert.equal(lines.length, 1, name)
      assert.ok(lines[0]?.endsWith(`| ${sentence} |`), name)
    }
    for (const name of Object.keys({ ...rateClasses, ...addressClasses }))
      assert.equal(findSetting('docs/settings.md', `RATE_LIMIT_${name.toUpperCase()}`).length, 1, name)
  })

  test('the README has the line of every everyday setting, and of no other', () => {
    const shown = Object.values(settings).filter(({ name }) => findSetting('README.md', name).length > 0)
    assert.deepEqual(shown.map(({ name }) => name).sort(), [...everyday].sort())
    for (const name of everyday) assert.deepEqual(findSetting('README.md', name), findSetting('docs/settings.md', name))
  })

  test('a file that is missing or changed is found, and written anew', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'switchboard-generated-'))
    context.after(() => rm(folder, { recursive: true }))
    const all = [...files.keys()]
    assert.deepEqual(await checkGenerated(folder, files), all)
    assert.deepEqual(await writeGenerated(folder, files), all)
    assert.deepEqual(await checkGenerated(folder, files), [])

    const page = join(folder, 'docs/settings.md')
    await writeFile(page, `${await readFile(page, 'utf8')}by hand\n`)
    assert.deepEqual(await checkGenerated(folder, files), ['docs/settings.md'])
    assert.deepEqual(await writeGenerated(folder, files), ['docs/settings.md'])
    assert.equal(await readFile(page, 'utf8'), files.get('docs/settings.md'))
  })

  test('a cell cannot break out of its table', () => {
    assert.equal(writeTable(['A', 'B'], [['x|y', '']]), '| A | B |\n| --- | --- |\n| x\\|y | |')
  })
})
