import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import { systemRandom } from '../src/base/keys/random.ts'
import type { Log } from '../src/base/log/log.ts'
import { ManualClock } from '../src/base/time/clock.ts'
import { hour, minute, second } from '../src/base/time/duration.ts'
import { BadSetting, readConfig } from '../src/config.ts'
import type { FileStore } from '../src/files/file-store.ts'
import { openFileStores } from '../src/files/open.ts'
import { chooseSource } from '../src/files/s3/credentials/choose.ts'
import { FilesUnavailable } from '../src/files/unavailable.ts'
import { cannotReachFiles } from '../src/graph/errors.ts'
import { runProcess } from './harness/command.ts'
import { CredentialSources, roleArn } from './harness/credential-sources.ts'
import { assertError } from './harness/errors.ts'
import { pdf } from './harness/media-files.ts'
import { ObjectStorage } from './harness/object-storage.ts'
import { startTestServer, testStart } from './harness/server.ts'
import { until } from './harness/until.ts'
import { numbers, tokens } from './harness/world.ts'

const noKeys = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }

describe('credentials of a role', () => {
  let folder: string
  let tokenFile: string
  let clock: ManualClock
  let storage: ObjectStorage
  let sources: CredentialSources
  let lines: Record<string, unknown>[]
  let opened: FileStore[]

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
    tokenFile = join(folder, 'token')
    storage = await ObjectStorage.start()
  })
  after(async () => {
    await storage.stop()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    clock = new ManualClock(testStart)
    sources = await CredentialSources.start(clock)
    storage.signers = sources.keys
    lines = []
    opened = []
    await writeFile(tokenFile, `${sources.token}\n`)
  })
  afterEach(async () => {
    for (const store of opened) await store.close()
    await sources.stop()
    const text = JSON.stringify(lines)
    for (const secret of sources.secrets()) assert.ok(!text.includes(secret), 'the log holds no secret')
  })

  const envs = {
    STS: () => ({
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ROLE_ARN: roleArn,
      AWS_ROLE_SESSION_NAME: 'of-tests',
      AWS_ENDPOINT_URL_STS: `${sources.url}/sts`,
    }),
    container: () => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${sources.url}/agent/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: sources.token,
    }),
    metadata: () => ({ AWS_EC2_METADATA_SERVICE_ENDPOINT: sources.url }),
  }

  async function open(env: Readonly<Record<string, string>>, keys: Record<string, string> = noKeys) {
    const sink = new Writable({
      write(chunk, _, done) {
        lines.push(JSON.parse(chunk))
        done()
      },
    })
    const log: Log = Object.assign(pino({ level: 'trace' }, sink), { line: () => undefined })
    const config = readConfig({ ...storage.settings(), ...keys, FILES_TIMEOUT: '1s', DATA_DIR: folder, ...env })
    const { store } = await openFileStores(config, { clock, random: systemRandom, log })
    opened.push(store)
    return store
  }
  const put = (store: FileStore, text = 'bytes') => store.put(Readable.from([Buffer.from(text)]), async () => '')
  const logged = (level: number) => lines.filter((line) => line['level'] === level)

  for (const [name, source, advice] of [
    ['STS', 'web identity', /; check that the token in AWS_WEB_IDENTITY_TOKEN_FILE may assume AWS_ROLE_ARN$/],
    ['container', 'container', /; check the role of the task or pod$/],
    ['metadata', 'instance metadata', /; give the machine a role, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY$/],
  ] as const) {
    test(`credentials of a role come from ${name}, are fetched once, and their session token is sent`, async () => {
      const store = await open(envs[name]())
      assert.deepEqual(
        lines.map((line) => [line['source'], line['level']]),
        [[source, 30]],
      )
      assert.deepEqual(sources.requests, [])
      const blobs = await Promise.all(['a', 'b', 'c'].map((text) => put(store, text)))
      for (const { sha256 } of blobs) assert.equal((await store.find({ sha256, place: '' }))?.size, 1)
      assert.deepEqual(sources.requests, [name])
    })

    test(`credentials of a role are unavailable while ${name} fails, and come when it works again`, async () => {
      const store = await open(envs[name]())
      sources.fault = 500
      await assert.rejects(put(store), (error) => error instanceof FilesUnavailable && error.kind === 'away')
      sources.fault = 403
      await assert.rejects(put(store), (error) => error instanceof FilesUnavailable && error.kind === 'refused')
      assert.equal(logged(50)[0]?.['msg'], 'files cannot be stored or read: requests are refused')
      assert.match(
        String(logged(50)[0]?.['err']),
        /^there are no credentials for the object storage: the .+ answered with 500 Fault;/,
      )
      assert.match(String(logged(50)[0]?.['err']), advice)
      sources.fault = undefined
      await put(store)
      assert.equal(lines.at(-1)?.['msg'], 'the object storage works again')
    })
  }

  test('credentials of a role are unavailable while their source is silent', async () => {
    const store = await open(envs.container())
    sources.fault = 'silence'
    await assert.rejects(put(store), /the credentials endpoint of the container does not respond: TimeoutError/)
  })

  test('credentials of a role are renewed before they expire, by one request, and with the token that the file has then', async () => {
    const store = await open(envs.STS())
    await put(store)
    clock.advance(hour - 6 * minute)
    await put(store)
    assert.deepEqual(sources.requests, ['STS'])

    sources.token = 'second-token'
    await writeFile(tokenFile, 'second-token')
    clock.advance(2 * minute)
    await Promise.all(['a', 'b', 'c', 'd'].map((text) => put(store, text)))
    await until(() => sources.keys.size === 2, 'they are renewed')
    // The new ones are used from now on.
    sources.expireAll()
    sources.validate(2)
    clock.advance(50 * minute)
    await put(store)
    assert.deepEqual(sources.requests, ['STS', 'STS'])
    assert.deepEqual(logged(40), [])
  })

  test('credentials of a role are used until they expire when they cannot be renewed, with a warning; then nothing can be stored', async () => {
    const store = await open(envs.STS())
    await put(store)
    clock.advance(hour - 4 * minute)
    // The token in the file is not the one that STS takes.
    sources.token = 'second-token'
    await put(store)
    await until(() => logged(40).length === 1, 'a warning is logged')
    assert.match(String(logged(40)[0]?.['msg']), /cannot be renewed; the old ones are used until they expire/)
    assert.match(String(logged(40)[0]?.['err']), /answered with 400 InvalidIdentityToken/)
    await put(store)
    assert.equal(sources.requests.length, 2, 'not asked again at once')
    clock.advance(30 * second)
    await put(store)
    await until(() => logged(40).length === 2, 'asked again after a while')

    clock.advance(4 * minute)
    await assert.rejects(put(store), /InvalidIdentityToken/)
    await rm(tokenFile)
    await assert.rejects(put(store), /the file of AWS_WEB_IDENTITY_TOKEN_FILE cannot be read: ENOENT/)
    await writeFile(tokenFile, 'second-token')
    await put(store)
  })

  test('credentials of a role are renewed once and the request is repeated when the storage says that they expired', async () => {
    const store = await open(envs.container())
    const { sha256 } = await put(store)
    sources.expireAll()
    clock.advance(minute)
    await Promise.all([put(store, 'a'), put(store, 'b')])
    assert.equal(sources.requests.length, 2)
    sources.expireAll()
    clock.advance(minute)
    // A HEAD is refused without a code.
    assert.equal((await store.find({ sha256, place: '' }))?.size, 5)
    assert.equal(sources.requests.length, 3)

    // Storage that refuses new ones as well is not a reason to ask for ever more.
    sources.expireAll()
    await assert.rejects(put(store), /answered PUT with 400 ExpiredToken/)
    await assert.rejects(put(store), /answered PUT with 400 ExpiredToken/)
    assert.equal(sources.requests.length, 3)
  })

  test('keys that are set win over every source of credentials', async () => {
    storage.signers = new Map([['AKIDSTATIC', { secretAccessKey: 'static-secret' }]])
    const keys = { AWS_ACCESS_KEY_ID: 'AKIDSTATIC', AWS_SECRET_ACCESS_KEY: 'static-secret' }
    const store = await open({ ...envs.STS(), ...envs.container(), ...envs.metadata() }, keys)
    await put(store)
    assert.equal(lines[0]?.['source'], 'AWS_ACCESS_KEY_ID')
    assert.deepEqual(sources.requests, [])
  })

  test('the token of a container is read from its file each time, which wins over the variable', async () => {
    const store = await open({ ...envs.container(), AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile })
    sources.token = 'second-token'
    await assert.rejects(put(store), /answered with 401/)
    await writeFile(tokenFile, 'second-token\n')
    await put(store)
  })

  test('a server that finds no credentials of a role says so and ends, as with a wrong key', async () => {
    sources.fault = 404
    const other = { DATA_DIR: join(folder, 'data'), PORT: '0', LOG_LEVEL: 'silent', NODE_ENV: 'production' }
    const env = { ...storage.settings('other'), ...noKeys, ...envs.metadata(), ...other }
    const { code, stderr } = await runProcess(['serve'], { env, cwd: folder })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^switchboard: there are no credentials for the object storage: .+ answered with 404 Fault; give/,
    )
  })

  test('credentials of a role that expire and cannot be renewed make uploads fail as storage does that is away', async (t) => {
    const env = { ...storage.settings('another'), ...noKeys, ...envs.metadata(), FILES_TIMEOUT: '1s' }
    const server = await startTestServer({ engine: 'sqlite', storage: 'disk', env })
    t.after(() => server.stop())
    const multipart = { file: new Blob([new Uint8Array(pdf)]) }
    const upload = () => server.client.post(`/v23.0/${numbers.main}/media`, { token: tokens.owner, multipart })
    assert.equal((await upload()).status, 200)
    sources.fault = 503
    server.clock.advance(hour)
    assertError(await upload(), cannotReachFiles({ seconds: 5 }))
    sources.fault = undefined
    clock.advance(hour)
    assert.equal((await upload()).status, 200)
  })
})

describe('the source of credentials', () => {
  const choose = (env: Record<string, string>) => chooseSource(readConfig(env), 'eu-central-1')
  const webIdentity = { AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: roleArn }
  const relative = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials/id' }
  const full = (url: string) => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url })

  test('the source of credentials is the first that is set: web identity, container, metadata', () => {
    const pod = full('http://169.254.170.23/v1/credentials')
    assert.deepEqual(choose({ ...webIdentity, ...relative, ...pod }), {
      from: 'web identity',
      tokenFile: '/token',
      roleArn,
      sessionName: 'switchboard',
      endpoint: 'https://sts.eu-central-1.amazonaws.com',
    })
    const { url } = choose({ ...relative, ...pod, AWS_ROLE_ARN: roleArn }) as { url: string }
    assert.equal(url, 'http://169.254.170.2/v2/credentials/id')
    assert.equal(choose(pod).from, 'container')
    assert.deepEqual(choose({ AWS_EC2_METADATA_DISABLED: 'false' }), {
      from: 'instance metadata',
      endpoint: 'http://169.254.169.254',
    })
  })

  test('the source of credentials may be a container over https, on this machine, or an agent of Amazon, and nothing else', () => {
    for (const url of [
      'https://agent.example.com/',
      'http://localhost:1/',
      'http://[::1]/',
      'http://[fd00:ec2::23]/',
    ]) {
      assert.equal(choose(full(url)).from, 'container', url)
    }
    for (const url of ['http://169.254.169.254/', 'http://10.0.0.1/', 'http://agent.example.com/', 'file:///x', 'x']) {
      assert.throws(() => choose(full(url)), BadSetting, url)
      // Where files are not in object storage, it is nobody's concern.
      readConfig(full(url))
    }
  })

  test('the source of credentials is a bad setting where it is none, or half of one', () => {
    for (const [env, expected] of [
      [{ AWS_EC2_METADATA_DISABLED: 'TRUE' }, /needs credentials: set AWS_ACCESS_KEY_ID/],
      [{ AWS_ACCESS_KEY_ID: 'x' }, /only one of/],
      [{ AWS_SECRET_ACCESS_KEY: 'x' }, /only one of/],
      [{ AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', AWS_SESSION_TOKEN: 'a\nb' }, /is not usable/],
      [{ AWS_WEB_IDENTITY_TOKEN_FILE: '/token' }, /without AWS_ROLE_ARN/],
      [{ ...webIdentity, AWS_ROLE_SESSION_NAME: 'a b' }, /AWS_ROLE_SESSION_NAME must be/],
      [{ ...webIdentity, AWS_ENDPOINT_URL_STS: 'sts' }, /AWS_ENDPOINT_URL_STS is not usable/],
      [{ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '@example.com/' }, /must be a path/],
      [{ AWS_EC2_METADATA_SERVICE_ENDPOINT: 'x' }, /AWS_EC2_METADATA_SERVICE_ENDPOINT is not usable/],
    ] as const) {
      const all = { FILES_URL: 's3://bucket', ...env }
      assert.throws(
        () => readConfig(all),
        (error) => error instanceof BadSetting && expected.test(error.message),
      )
    }
  })
})
