import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'

/**
 * Of the test files those that belong to what differs from a commit, what is not committed included: changed test files, the
 * tests beside changed sources, and the tests that import them. Nothing follows imports further: it would soon be everything.
 */
export async function findTestsOfChanges(
  root: string,
  tests: readonly string[],
  commit?: string,
): Promise<{ since: string; tests: string[] }> {
  const git = async (...args: string[]) => (await promisify(execFile)('git', args, { cwd: root })).stdout.trim()
  // Where this branch left main; on main itself, and where there is none, the last commit.
  const since = commit ?? (await git('merge-base', 'HEAD', 'main').catch(() => 'HEAD'))
  const listed = await git('diff', '--name-only', '--relative', since)
  const added = await git('ls-files', '--others', '--exclude-standard')
  const changed = new Set([...listed.split('\n'), ...added.split('\n')].filter((file) => existsSync(join(root, file))))
  const sources = [...changed].filter((file) => /\.m?[tj]s$/.test(file) && !file.endsWith('.test.ts'))
  const folders = new Set(sources.map((file) => dirname(file)))
  const chosen: string[] = []
  for (const test of tests) {
    const isChosen =
      changed.has(test) ||
      folders.has(dirname(test)) ||
      (await listImports(root, test)).some((file) => changed.has(file))
    if (isChosen) chosen.push(test)
  }
  return { since, tests: chosen }
}

/** The project's own files that a file imports. */
async function listImports(root: string, file: string): Promise<string[]> {
  const text = await readFile(join(root, file), 'utf8')
  const named = [...text.matchAll(/(?:from|import\(|import\.meta\.resolve\(|^import) ?'(\.[^']+)'/gm)]
  return named.map(([, path = '']) => relative(root, resolve(root, dirname(file), path)))
}
