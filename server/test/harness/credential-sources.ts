import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Clock } from '../../src/base/time/clock.ts'
import { hour } from '../../src/base/time/duration.ts'
import type { SigningKey } from './object-storage.ts'

export const roleArn = 'arn:aws:iam::123456789012:role/files'
const metadataToken = 'token-of-the-metadata'
const folder = '/latest/meta-data/iam/security-credentials/'

/**
 * What gives out the credentials of roles, for tests: STS, the agent of a container and the metadata of a machine (version 2 alone), on
 * one port. Each has its own path, so that a request to the wrong one fails.
 */
export class CredentialSources {
  /** The keys that were given out, for the object storage. */
  readonly keys = new Map<string, SigningKey>()
  /** Who gave out a key, or refused to: in order. */
  readonly requests: string[] = []
  /** What the token has to be that comes with a request to STS or to the agent. */
  token = 'first-token'
  /** A status instead of credentials, or none at all. */
  fault: number | 'silence' | undefined
  readonly #clock: Clock
  readonly #server = createServer((request, response) => void this.#respond(request, response))
  #serial = 0

  private constructor(clock: Clock) {
    this.#clock = clock
  }

  static async start(clock: Clock): Promise<CredentialSources> {
    const sources = new CredentialSources(clock)
    sources.#server.listen(0, '127.0.0.1')
    await once(sources.#server, 'listening')
    return sources
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** The object storage refuses what was given out so far as expired. */
  expireAll(): void {
    for (const [id, key] of this.keys) this.keys.set(id, { ...key, isExpired: true })
  }

  /** The object storage takes a key again: the first, the second, … */
  validate(serial: number): void {
    const id = nameKey(serial)
    const key = this.keys.get(id)
    assert.ok(key)
    this.keys.set(id, { ...key, isExpired: false })
  }

  /** Every secret that was given out, and every token. */
  secrets(): string[] {
    const ofKeys = [...this.keys.values()].flatMap(({ secretAccessKey, sessionToken = '' }) => [
      secretAccessKey,
      sessionToken,
    ])
    return [...ofKeys, ...this.keys.keys(), this.token, metadataToken]
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '', method, headers } = request
    const body = await text(request)
    const name = { '/sts': 'STS', '/agent/credentials': 'container' }[url] ?? 'metadata'
    // The metadata takes three requests for one key; the last is counted.
    if (name !== 'metadata' || url === `${folder}role-of-tests`) this.requests.push(name)
    if (this.fault === 'silence') return
    if (this.fault !== undefined) return void response.writeHead(this.fault).end('<Error><Code>Fault</Code></Error>')
    if (name === 'STS') return this.#exchange(method, body, response)
    if (name === 'container') {
      if (headers.authorization !== this.token) return void response.writeHead(401).end()
      return void response.end(JSON.stringify({ RoleArn: roleArn, ...this.#issue() }))
    }
    return this.#describeMachine(request, response)
  }

  #exchange(method: string | undefined, body: string, response: ServerResponse): void {
    const form = new URLSearchParams(body)
    const isRight =
      method === 'POST' &&
      form.get('Action') === 'AssumeRoleWithWebIdentity' &&
      form.get('Version') === '2011-06-15' &&
      form.get('RoleArn') === roleArn &&
      form.get('RoleSessionName') === 'of-tests'
    if (!isRight) return void response.writeHead(400).end('<Error><Code>ValidationError</Code></Error>')
    if (form.get('WebIdentityToken') !== this.token) {
      const said = `<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>${body}</Message></Error></ErrorResponse>`
      return void response.writeHead(400).end(said)
    }
    const { AccessKeyId, SecretAccessKey, Token, Expiration } = this.#issue()
    response.end(
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Audience>x</Audience><Credentials><SessionToken>${Token}</SessionToken><SecretAccessKey>${SecretAccessKey}</SecretAccessKey><Expiration>${Expiration}</Expiration><AccessKeyId>${AccessKeyId}</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    )
  }

  #describeMachine({ url, method, headers }: IncomingMessage, response: ServerResponse): void {
    if (url === '/latest/api/token') {
      const ttl = Number(headers['x-aws-ec2-metadata-token-ttl-seconds'])
      if (method !== 'PUT' || !(ttl >= 1 && ttl <= 21_600)) return void response.writeHead(400).end()
      return void response.end(metadataToken)
    }
    if (method !== 'GET' || headers['x-aws-ec2-metadata-token'] !== metadataToken) {
      return void response.writeHead(401).end()
    }
    if (url === folder) return void response.end('role-of-tests')
    if (url !== `${folder}role-of-tests`) return void response.writeHead(404).end()
    response.end(JSON.stringify({ Code: 'Success', Type: 'AWS-HMAC', ...this.#issue() }))
  }

  #issue() {
    const serial = ++this.#serial
    const AccessKeyId = nameKey(serial)
    const SecretAccessKey = `secret/of+role${serial}`
    const Token = `session-token//of+role${serial}==`
    assert.ok(!this.keys.has(AccessKeyId))
    this.keys.set(AccessKeyId, { secretAccessKey: SecretAccessKey, sessionToken: Token })
    return { AccessKeyId, SecretAccessKey, Token, Expiration: new Date(this.#clock.now() + hour).toISOString() }
  }
}

function nameKey(serial: number): string {
  return `ASIAOFAROLE${serial}`
}
