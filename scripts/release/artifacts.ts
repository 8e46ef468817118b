// The files of a release: tarballs, bills of materials, notes, differences of the API, checksums.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkPacked, packWorkspace, publishedFolders } from './packages.ts'
import { makeSbom, makeSbomCheck } from './sbom.ts'
import { readLock } from './versions.ts'

interface Contents {
  readonly version: string
  readonly date: Date
  readonly notes: string
  readonly differences: string
}

export interface Artifacts {
  readonly tarballs: readonly string[]
  readonly problems: readonly string[]
}

export async function makeArtifacts(root: string, folder: string, contents: Contents): Promise<Artifacts> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const lock = readLock(root)
  const checkSbom = makeSbomCheck()
  const problems: string[] = []
  const tarballs: string[] = []
  for (const workspace of publishedFolders) {
    const packed = packWorkspace(root, workspace, folder)
    problems.push(...checkPacked(packed, contents.version))
    tarballs.push(packed.file)
    const subject = { ...packed, checksum: checksumOf(join(folder, packed.file)), date: contents.date }
    const sbom = await makeSbom(root, lock, subject)
    problems.push(...checkSbom(sbom).map((problem) => `the bill of materials of ${workspace}/: ${problem}`))
    writeFileSync(join(folder, packed.file.replace(/\.tgz$/, '.cdx.json')), `${JSON.stringify(sbom, null, 2)}\n`)
  }
  writeFileSync(join(folder, 'release-notes.md'), `${contents.notes}\n`)
  writeFileSync(join(folder, 'openapi-differences.md'), contents.differences)
  writeFileSync(join(folder, 'SHA256SUMS'), writeChecksums(folder))
  return { tarballs, problems }
}

/** For `sha256sum --check` in that folder. */
function writeChecksums(folder: string): string {
  return readdirSync(folder)
    .sort()
    .map((name) => `${checksumOf(join(folder, name))}  ${name}\n`)
    .join('')
}

function checksumOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
