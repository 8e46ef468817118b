import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { load } from 'js-yaml'

interface Job {
  readonly uses?: string
  readonly permissions?: Readonly<Record<string, string>>
  readonly 'timeout-minutes'?: number
  readonly environment?: string
  readonly steps?: readonly { readonly uses?: string; readonly with?: Readonly<Record<string, unknown>> }[]
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>
  readonly concurrency?: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

const folder = new URL('../../.github/workflows/', import.meta.url)

/** What a linter does not ask for. Returns what is wrong. */
function check(text: string): string[] {
  const { permissions, concurrency, jobs } = load(text) as Workflow
  const problems: string[] = []
  if (JSON.stringify(permissions) !== '{"contents":"read"}') problems.push('it may do more than read')
  if (!concurrency) problems.push('runs of it are not kept apart')
  for (const [name, job] of Object.entries(jobs)) {
    if (!job.uses && !job['timeout-minutes']) problems.push(`${name} may take for ever`)
    if (job.permissions && !job.environment) problems.push(`${name} has permissions that nobody reviews`)
    if (/secrets\./.test(JSON.stringify(job)) && !job.environment)
      problems.push(`${name} has a secret that nobody reviews`)
    for (const step of job.steps ?? []) {
      if (step.uses?.startsWith('actions/checkout@') && step.with?.['persist-credentials'] !== false) {
        problems.push(`${name} leaves its token in the clone`)
      }
    }
  }
  for (const [line, used] of text.matchAll(/^ *(?:- )?uses: (.*)$/gm)) {
    if (!/^(\.\/.+\.yml|actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(used as string)) {
      problems.push(`not pinned by commit, with its version: ${line.trim()}`)
    }
  }
  // What others choose, such as the name of a branch, is no part of a script.
  for (const [line] of text.matchAll(/^ *(?:- )?run:.*\$\{\{.*$/gm))
    problems.push(`a value in a script: ${line.trim()}`)
  return problems
}

describe('workflows', () => {
  const names = readdirSync(folder)
  const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')

  for (const name of names)
    it(`${name} has few rights, an end, and pinned actions`, () => assert.deepEqual(check(read(name)), []))

  it('are four, and pin an action to one commit', () => {
    assert.deepEqual(names, ['audit.yml', 'nightly.yml', 'release.yml', 'test.yml'])
    const pins = names.flatMap((name) => [...read(name).matchAll(/(actions\/[\w-]+)@(\w+ # \S+)/g)])
    assert.equal(new Set(pins.map(([pin]) => pin)).size, new Set(pins.map(([, action]) => action)).size)
  })

  it('are found wanting where they are', () => {
    const text = read('release.yml')
    for (const [from, to, problem] of [
      ['permissions:\n  contents: read', 'permissions:\n  contents: write', /more than read/],
      ['concurrency:', 'concurrently:', /kept apart/],
      ['    timeout-minutes: 30\n', '', /make may take for ever/],
      ['    environment: npm\n', '', /permissions that nobody reviews.*secret that nobody reviews/],
      ['          persist-credentials: false\n', '', /leaves its token/],
      [/checkout@\w+ # \S+/, 'checkout@v6', /not pinned by commit/],
      [/ # v6\.0\.2/, '', /not pinned by commit/],
      ['actions/checkout@', 'somebody/checkout@', /not pinned by commit/],
      ['run: npm run release', `run: echo $\{{ github.ref }}; npm run release`, /a value in a script/],
    ] as const) {
      const damaged = text.replace(from, to)
      assert.notEqual(damaged, text, String(from))
      assert.match(check(damaged).join(', '), problem)
    }
  })
})
