// `npm run release`: checks everything that can be checked before a release, and makes its files in dist/release/VERSION. With --dry-run
// that is all; without, it tags the commit, if nothing stands in the way. It pushes and publishes nothing (docs/releasing.md).
// `npm run release -- --bump 1.2.3` writes the next version into the packages instead.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeArtifacts } from './artifacts.ts'
import { checkChangelog, parseChangelog } from './changelog.ts'
import { compareAll, type Documents, documentNames, findUnnamed, writeDifferences } from './openapi-check.ts'
import { ownFolders, readManifest } from './packages.ts'
import {
  checkRepository,
  findLastRelease,
  isTaggedHere,
  openRepository,
  type Repository,
  showFile,
} from './repository.ts'
import { checkNames } from './type-names.ts'
import { bumpVersions, checkVersions, readLock } from './versions.ts'

const root = dirname(dirname(import.meta.dirname))
const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean' }, bump: { type: 'string' } } })

if (values.bump === undefined) await release(values['dry-run'] === true)
else bump(values.bump)

function bump(version: string): void {
  if (/^\d+\.\d+\.\d+$/.test(version)) {
    for (const path of bumpVersions(root, version)) console.log(`Wrote ${path}.`)
    console.log('Next: npm run gen')
  } else fail([`"${version}" is not a version like 1.2.3`])
}

async function release(isDry: boolean): Promise<void> {
  const manifests = Object.fromEntries(ownFolders.map((folder) => [folder, readManifest(root, folder)]))
  const version = readManifest(root, 'server').version
  const tag = `v${version}`
  const repository = openRepository(root)
  const tagged = isTaggedHere(repository, tag)
  const last = findLastRelease(root, repository, version)
  const since = last?.name ?? 'nothing: this is the first release'
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const readLast = (path: string) => (last ? showFile(repository, last.commit, path) : undefined)

  const changelog = read('CHANGELOG.md')
  const section = parseChangelog(changelog).releases.find((one) => one.version === version)
  const changes = compareAll(readDocuments(readLast), readDocuments(read))
  const unnamed = findUnnamed(last ? changes : [], section)
  const problems = [
    ...checkRepository(repository, tag),
    ...checkVersions(manifests, readLock(root)),
    ...checkGenerated(readDocuments(read), version),
    // Whoever tries a release has no date for it yet; a commit that is released has one.
    ...checkChangelog(changelog, version, !isDry || tagged),
    ...unnamed.map(
      ({ operation, address, text }) =>
        `CHANGELOG.md: Server, Breaking does not name \`${operation}\` (${address}), of which the ${text}`,
    ),
    ...checkNames(readLast, read, section),
  ]

  console.log(`Switchboard ${version}, since ${since}.`)
  const breaking = changes.filter((change) => change.breaking)
  console.log(`The API: ${changes.length} differences, ${breaking.length} of them breaking.`)
  for (const { operation, text } of breaking) console.log(`  ${operation}: ${text}`)

  // Packing takes longest, and what is packed of a wrong commit helps nobody.
  if (problems.length > 0) return void fail(problems)

  const folder = join(root, 'dist/release', version)
  const { tarballs, problems: found } = await makeArtifacts(root, folder, {
    version,
    date: new Date(repository.git('show', '--no-patch', '--format=%cI', 'HEAD').trim()),
    notes: section?.text ?? '',
    differences: writeDifferences(changes, since),
  })
  console.log(`\nIn dist/release/${version}:\n${read(`dist/release/${version}/SHA256SUMS`)}`)
  if (!section?.date) console.log(`CHANGELOG.md has no date for ${version} yet.`)
  if (Object.values(manifests).some((one) => one.name !== '@switchboard/console' && one.repository === undefined)) {
    console.log('No package.json has a `repository`: a registry takes provenance only from the one that it names.')
  }
  if (found.length > 0) fail(found)
  else if (isDry) console.log('Nothing stands in the way.')
  else if (tagged) console.log(`This commit is tagged ${tag} already.`)
  else tagCommit(repository, version, tarballs)
}

function tagCommit(repository: Repository, version: string, tarballs: readonly string[]): void {
  const tag = `v${version}`
  repository.git('tag', '--annotate', tag, '--message', `Switchboard ${version}`)
  console.log(`Tagged ${tag}. Pushing the tag starts the workflow that publishes:\n\n  git push origin ${tag}\n`)
  console.log('It runs, in this order, in the folder of the release:\n')
  for (const file of tarballs) console.log(`  npm publish ./${file} --provenance --access public`)
}

function readDocuments(read: (path: string) => string | undefined): Documents {
  return Object.fromEntries(
    documentNames.flatMap((name) => {
      const text = read(`openapi/${name}.json`)
      return text === undefined ? [] : [[name, JSON.parse(text)]]
    }),
  )
}

function checkGenerated(documents: Documents, version: string): string[] {
  return Object.entries(documents)
    .filter(([, document]) => document?.info?.version !== version)
    .map(([name]) => `openapi/${name}.json is of another version: run npm run gen`)
}

function fail(problems: readonly string[]): void {
  console.error(`\nNo release:\n${problems.map((problem) => `- ${problem}`).join('\n')}`)
  process.exitCode = 1
}
