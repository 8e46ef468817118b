// What git knows of releases.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compareVersions } from './changelog.ts'

export interface Repository {
  /** Runs git; throws with what it says. */
  git(...args: string[]): string
}

export function openRepository(root: string): Repository {
  return {
    git: (...args) =>
      execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'pipe'] }),
  }
}

/** Undefined where git fails, such as for a file that a commit does not have. */
function attempt({ git }: Repository, ...args: string[]): string | undefined {
  try {
    return git(...args)
  } catch (error) {
    if ((error as { status?: unknown }).status === undefined) throw error
    return undefined
  }
}

export function showFile(repository: Repository, commit: string, path: string): string | undefined {
  return attempt(repository, 'show', `${commit}:${path}`)
}

export function isTaggedHere(repository: Repository, tag: string): boolean {
  const tagged = attempt(repository, 'rev-parse', '--verify', '--quiet', `refs/tags/${tag}^{commit}`)
  return tagged !== undefined && tagged === repository.git('rev-parse', 'HEAD')
}

/** Of a tree from which something is released: all of it is committed, and the version is new. */
export function checkRepository(repository: Repository, tag: string): string[] {
  const changed = repository.git('status', '--porcelain').trimEnd()
  const exists = attempt(repository, 'rev-parse', '--verify', '--quiet', `refs/tags/${tag}`) !== undefined
  return [
    ...(changed === '' ? [] : [`the tree is not clean:\n${changed}`]),
    ...(exists && !isTaggedHere(repository, tag) ? [`the tag ${tag} exists, on another commit`] : []),
  ]
}

export interface LastRelease {
  readonly name: string
  readonly commit: string
}

/** The newest tag before this one. The first release has none; its commit is noted with its schema. */
export function findLastRelease(root: string, repository: Repository, version: string): LastRelease | undefined {
  const versions = repository
    .git('tag', '--list', 'v*', '--merged', 'HEAD')
    .split('\n')
    .filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag))
    .map((tag) => tag.slice(1))
    .filter((one) => compareVersions(one, version) < 0)
    .sort(compareVersions)
  const newest = versions.at(-1)
  if (newest) return { name: newest, commit: `v${newest}` }
  const { commit } = JSON.parse(readFileSync(join(root, 'server/test/released-schema.json'), 'utf8'))
  const manifest = showFile(repository, commit, 'server/package.json')
  return manifest === undefined ? undefined : { name: JSON.parse(manifest).version, commit }
}
