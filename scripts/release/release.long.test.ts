import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { readManifest } from './packages.ts'
import { makeSbomCheck } from './sbom.ts'

const root = dirname(dirname(import.meta.dirname))
const run = promisify(execFile)
const version = readManifest(root, 'server').version

/** Tries a release in a clone, with the uncommitted changes of this folder. Its files are written to a folder that git ignores. */
describe('npm run release', () => {
  let clone: string
  const git = async (...args: string[]) => (await run('git', ['-C', clone, ...args])).stdout.trim()
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(clone, path), change(readFileSync(join(clone, path), 'utf8')))
  const commit = () => git('commit', '--quiet', '--all', '--allow-empty', '--message', 'Change something')
  const release = async (...args: string[]) => {
    const command = [join(clone, 'scripts/release/main.ts'), ...args]
    return await run(join(root, 'node_modules/.bin/node'), command, { cwd: clone }).then(
      ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    )
  }
  const folder = () => join(clone, 'dist/release', version)

  before(async () => {
    clone = join(await mkdtemp(join(tmpdir(), 'switchboard-release-')), 'clone')
    await run('git', ['clone', '--quiet', root, clone])
    const { stdout } = await run('git', [
      '-C',
      root,
      'ls-files',
      '--modified',
      '--others',
      '--exclude-standard',
      '--deduplicate',
    ])
    for (const path of stdout.split('\n').filter((one) => one !== '')) {
      await cp(join(root, path), join(clone, path)).catch((error) => {
        if (error.code !== 'ENOENT') throw error
        rmSync(join(clone, path))
      })
    }
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
    await git('config', 'user.name', 'Test')
    await git('config', 'user.email', 'test@example.com')
    // A link is not a folder, which the list of ignored files names.
    writeFileSync(join(clone, '.git/info/exclude'), 'node_modules\n')
    await git('tag', '--list').then(async (tags) => {
      for (const tag of tags.split('\n').filter((one) => one === `v${version}`)) await git('tag', '--delete', tag)
    })
    edit('CHANGELOG.md', (text) => text.replace(/^## .*$/m, `## ${version} (Unreleased)`))
    await git('add', '--all')
    await commit()
  })
  after(() => rm(dirname(clone), { recursive: true, force: true }))

  it('makes four packages with bills of materials and checksums, twice the same', async () => {
    const { code, stdout, stderr } = await release('--dry-run')
    assert.equal(code, 0, `${stdout}${stderr}`)
    assert.match(stdout, /Nothing stands in the way/)
    const names = ['client', 'server', 'testing', 'voice'].map((name) => `switchboard-${name}-${version}`)
    const expected = names.flatMap((name) => [`${name}.cdx.json`, `${name}.tgz`])
    assert.deepEqual(
      readdirSync(folder()).sort(),
      ['SHA256SUMS', 'openapi-differences.md', 'release-notes.md', ...expected].sort(),
    )
    const sums = readFileSync(join(folder(), 'SHA256SUMS'), 'utf8')
    for (const line of sums.trimEnd().split('\n')) {
      const [sum, name] = line.split('  ') as [string, string]
      assert.equal(
        createHash('sha256')
          .update(readFileSync(join(folder(), name)))
          .digest('hex'),
        sum,
        name,
      )
    }
    assert.equal(await git('status', '--porcelain'), '')
    assert.equal(await git('tag', '--list', `v${version}`), '')
    assert.equal((await release('--dry-run')).code, 0)
    assert.equal(readFileSync(join(folder(), 'SHA256SUMS'), 'utf8'), sums)
  })

  it('writes bills of materials that CycloneDX accepts, with what is bundled', () => {
    const check = makeSbomCheck()
    const read = (name: string) =>
      JSON.parse(readFileSync(join(folder(), `switchboard-${name}-${version}.cdx.json`), 'utf8'))
    for (const name of ['client', 'server', 'testing', 'voice']) assert.deepEqual(check(read(name)), [], name)
    const components = read('server').components as { name: string; properties: { value: string }[] }[]
    const bundled = components.filter(({ properties }) => properties[0]?.value === 'bundled').map(({ name }) => name)
    for (const name of ['fastify', 'pg', 'kysely', 'preact', 'undici', 'openid-client'])
      assert.ok(bundled.includes(name), name)
    assert.ok(!bundled.includes('esbuild'))
    for (const name of ['werift', '@evan/opus']) assert.ok(!bundled.includes(name), `${name} is not in the server`)
    assert.deepEqual(read('client').components, [])
    const installed = (read('voice').components as { name: string; group?: string }[]).map(({ group, name }) =>
      [group, name].filter(Boolean).join('/'),
    )
    for (const name of ['werift', '@evan/opus', '@switchboard/client']) assert.ok(installed.includes(name), name)
    const good = read('client')
    assert.match(check({ ...good, components: [{ type: 'libary', name: 'a' }] }).join(), /components\/0\/type/)
    assert.match(check({ ...good, serialNumber: '1' }).join(), /serialNumber/)
  })

  it('stops at uncommitted changes, a missing date, a breaking change without an entry, and another version', async () => {
    assert.match((await release()).stderr, /has no date/)
    edit('CHANGELOG.md', (text) => text.replace('(Unreleased)', '(2026-11-18)'))
    edit('sdk/package.json', (text) => text.replace(`"version": "${version}"`, '"version": "9.9.9"'))
    const { code, stderr } = await release('--dry-run')
    assert.equal(code, 1)
    assert.match(stderr, /the tree is not clean/)
    assert.match(stderr, /sdk\/package\.json: the version is 9\.9\.9/)
    await git('checkout', '--quiet', '--', '.')
  })

  it('stops at a breaking difference that the changelog does not name', async () => {
    edit('openapi/gateway.json', (text) => {
      const document = JSON.parse(text)
      delete document.paths['/gateway/messages']
      return JSON.stringify(document)
    })
    await commit()
    const { code, stderr } = await release('--dry-run')
    assert.equal(code, 1)
    assert.match(stderr, /Server, Breaking does not name `gateway\.\w+` \(POST \/gateway\/messages\)/)
    await git('reset', '--quiet', '--hard', 'HEAD~1')
  })

  it('tags a commit once, and compares the next version with it', async () => {
    edit('CHANGELOG.md', (text) => text.replace('(Unreleased)', '(2026-11-18)'))
    await commit()
    const { code, stdout, stderr } = await release()
    assert.equal(code, 0, `${stdout}${stderr}`)
    assert.match(stdout, new RegExp(`git push origin v${version}\n`))
    for (const name of ['client', 'voice']) {
      assert.match(stdout, new RegExp(`npm publish \\./switchboard-${name}-\\S+\\.tgz --provenance --access public`))
    }
    assert.equal(await git('cat-file', '-t', `v${version}`), 'tag')
    assert.match((await release()).stdout, /tagged v\S+ already/)
    await git('commit', '--quiet', '--allow-empty', '--message', 'Go on')
    assert.match((await release('--dry-run')).stderr, /the tag v\S+ exists, on another commit/)
    assert.equal((await release('--bump', '9.9.9')).code, 0)
    const { stdout: next, stderr: problems } = await release('--dry-run')
    assert.match(
      next,
      new RegExp(`Switchboard 9\\.9\\.9, since ${version.replaceAll('.', '\\.')}\\.\nThe API: 0 differences`),
    )
    assert.match(problems, /9\.9\.9 has no entries/)
    assert.match(problems, /openapi\/gateway\.json is of another version: run npm run gen/)
  })
})
