import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { testLong } from '../../../test/harness/form.ts'

const module = JSON.stringify(import.meta.resolve('./log.ts'))
const member = `"operation":"a.b","text":"${'x'.repeat(180)}"`

/** Where the run of all tests keeps what was compiled: taking the types out of the log takes longer than most of its tests. */
const cache = process.env['NODE_COMPILE_CACHE']
const compiled = cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }

let folder: string
let programs = 0
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchboard-log-'))
})
after(() => rm(folder, { recursive: true }))

/** A program that has the log `log` and `close`. */
async function write(source: string, format: string, more = ''): Promise<string> {
  const file = join(folder, `program-${programs++}.mjs`)
  const opening = `import { openLog } from ${module}\nconst { log, close } = openLog('info', '${format}'${more})`
  await writeFile(file, `${opening}\n${source}\n`)
  return file
}

async function start(
  source: string,
  format = 'json',
  env = {},
  more = '',
): Promise<ChildProcessByStdio<null, Readable, Readable>> {
  return spawn(process.execPath, ['--expose-gc', await write(source, format, more)], {
    env: { PATH: process.env['PATH'], TZ: 'UTC', ...compiled, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function numbersIn(lines: string): number[] {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).n)
}

describe('what was logged', () => {
  const logMany = `for (let n = 0; n < 5000; n++) log.line('"n":' + n + ',${member}')`
  for (const [name, source] of [
    ['at the end of the work', logMany],
    ['when the log is closed and the process left', `${logMany}\nawait close()\nprocess.exit(0)`],
    ['when the process is left in a hurry', `log.line('"n":0')\nprocess.exit(0)`],
    [
      'when something breaks',
      `log.line('"n":0')\nprocess.on('uncaughtException', () => process.exit(1))\nthrow new Error('broken')`,
    ],
    [
      'by a signal',
      `${logMany}\nprocess.once('SIGTERM', async () => { await close(); process.exit(0) })\nprocess.kill(process.pid, 'SIGTERM')`,
    ],
  ] as const) {
    it(`is all written, in its order, ${name}`, async () => {
      const child = await start(source)
      const numbers = numbersIn(await text(child.stderr))
      assert.deepEqual(
        numbers,
        Array.from(numbers, (_, index) => index),
      )
      assert.equal(numbers.length, source.includes('5000') ? 5000 : 1)
    })
  }

  it('comes soon, without being asked for', async (t) => {
    const child = await start(`log.info('hello')\nsetInterval(() => {}, 1000)`)
    t.after(() => child.kill())
    const [line] = await once(child.stderr, 'data')
    assert.equal(JSON.parse(String(line)).msg, 'hello')
  })
})

testLong(
  'the log is kept up to a bound while nobody reads it; then lines are dropped, and the log says how many',
  async (t) => {
    const count = 120_000
    // 30 MB are logged.
    const most = 25e6
    const child = await start(`
    for (let n = 0; n < ${count}; n++) {
      log.line('"n":' + n + ',${member}')
      if (n % 1000 === 0) await new Promise(setImmediate)
    }
    // What was let go is released by another thread, a moment after it was found.
    let kept = Infinity
    for (let tries = 0; tries < 1000 && kept >= ${most}; tries++) {
      gc()
      await new Promise((resolve) => setTimeout(resolve, 10))
      kept = process.memoryUsage().arrayBuffers
    }
    console.log(kept)
    setInterval(() => {}, 1000)
  `)
    t.after(() => child.kill())
    const [kept] = await once(child.stdout, 'data')
    assert.ok(Number(kept) < most, `${kept} bytes`)
    const said: string[] = []
    let end = ''
    child.stderr.setEncoding('utf8')
    for await (const chunk of child.stderr) {
      said.push(chunk)
      end = (end + chunk).slice(-200)
      if (/dropped[^\n]*\n$/.test(end)) break
    }
    const lines = said.join('').trimEnd().split('\n')
    const dropped = Number(/"(\d+) lines of the log were dropped/.exec(lines.pop() ?? '')?.[1])
    assert.equal(lines.length + dropped, count)
  },
)

it('goes on without a reader', async () => {
  const child = await start(`
    setInterval(() => log.line('${member}'), 1)
    setTimeout(() => { console.log('alive'); process.exit(0) }, 500)
  `)
  child.stderr.destroy()
  assert.equal(await text(child.stdout), 'alive\n')
})

it('has of an error only the members that hold no value', async () => {
  const source = `log.error({ err: Object.assign(new Error('broken'), { code: '23505', detail: 'a row' }) }, 'failed')`
  const { err } = JSON.parse(await text((await start(source)).stderr))
  assert.deepEqual([err.message, err.code, Object.keys(err)], ['broken', '23505', ['type', 'message', 'stack', 'code']])
})

describe('for people', () => {
  const request = `log.line('"operation":"account.read","method":"GET","status":200,"ms":0.5,"path":"/:version/:id","business":"20","app":"30","node":"10","trace":"abc"')`

  it('is one line a request', async () => {
    const said = await text((await start(request, 'pretty')).stderr)
    assert.match(
      said,
      /^\d\d:\d\d:\d\d\.\d{3} 200 {2}GET {5}account\.read {2}\/:version\/:id {2}0\.5 ms {2}business 20 {2}app 30 {2}node 10 {2}trace abc\n$/,
    )
  })

  it('has a coloured status, unless NO_COLOR is set', async () => {
    const colored = { FORCE_COLOR: '1' }
    for (const [status, color] of [
      [200, 32],
      [404, 33],
      [503, 31],
    ] as const) {
      const said = await text((await start(request.replace('200', String(status)), 'pretty', colored)).stderr)
      assert.ok(said.includes(`\x1b[${color}m${status}\x1b[39m`), said)
    }
    const plain = await text((await start(request, 'pretty', { NO_COLOR: '1' })).stderr)
    assert.ok(!plain.includes('\x1b'), plain)
  })

  it('shows warnings with their facts, errors with their stacks, and nothing that moves the cursor', async () => {
    const source = `
      log.warn({ connections: 2, err: 'gone\\x1b[2J' }, 'broke')
      log.error({ err: new Error('failed on purpose') }, 'a request failed')`
    const said = await text((await start(source, 'pretty')).stderr)
    assert.match(said, /^\S+ WARN {2}broke connections=2\n {4}gone \[2J\n/)
    assert.match(said, /\n\S+ ERROR a request failed\n {4}Error: failed on purpose\n {8}at .*program-/)
    assert.ok(!said.includes('\x1b'))
  })

  // The program that gives another a terminal takes other arguments elsewhere.
  if (process.platform === 'linux') {
    it('is what a terminal gets, unless LOG_FORMAT=json', async () => {
      for (const [format, expected] of [
        ['auto', '\x1b[32m200\x1b[39m  GET'],
        ['json', '{"level":30,'],
      ] as const) {
        const command = `'${process.execPath}' '${await write(request, format)}'`
        const terminal = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
          env: { PATH: process.env['PATH'], TERM: 'xterm-256color' },
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        const said = await text(terminal.stdout)
        assert.ok(said.includes(expected), said)
      }
    })
  }

  it('names the process and its role in lines for programs alone, whichever way a line is written', async () => {
    const from = `, { process: '00f067aa0ba902b7', role: 'api' }`
    const both = `log.line('"n":0')\nlog.warn('broke')`
    const lines = (await text((await start(both, 'json', {}, from)).stderr)).trimEnd().split('\n')
    const parsed = lines.map((line) => JSON.parse(line))
    assert.deepEqual(
      parsed.map(({ level, process: id, role }) => [level, id, role]),
      [30, 40].map((level) => [level, '00f067aa0ba902b7', 'api']),
    )
    assert.ok(!(await text((await start(both.split('\n').at(-1) ?? '', 'pretty', {}, from)).stderr)).includes('00f067'))
  })

  it('is not for who is no terminal', async () => {
    const said = await text((await start(request, 'auto')).stderr)
    assert.equal(JSON.parse(said).operation, 'account.read')
  })
})
