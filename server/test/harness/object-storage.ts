import assert from 'node:assert/strict'
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/**
 * A small S3 for tests: PUT, GET with ranges, HEAD, DELETE and ListObjectsV2 on one bucket, kept in a folder. It checks signatures,
 * their time, and the length and hash of bodies as strictly as Amazon does, by code that shares nothing with the service's. It fails
 * when a test wants that.
 */

export const accessKeyId = 'AKIDEXAMPLEOFTESTS00'
export const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const bucket = 'test-bucket'
const region = 'test-region-1'
const maxSkew = 15 * 60_000
const pageSize = 3

/** What happens to a request instead of what it asks for. */
export type Fault =
  | { readonly status: number; readonly code: string }
  /** No response, until the client gives up. */
  | 'silence'
  /** Half of the bytes of an object, then the connection is cut. */
  | 'cut'

/** What somebody may sign with. */
export interface SigningKey {
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly isExpired?: boolean
}

interface Seen {
  readonly method: string
  readonly key: string
}

class Refused extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

export class ObjectStorage {
  /** Decides what becomes of a request, at once or later; undefined: what it asks for. */
  fault: (asked: Seen) => Fault | undefined | Promise<Fault | undefined> = () => undefined
  /** Who may sign, by the id of the key. */
  signers: ReadonlyMap<string, SigningKey> = new Map([[accessKeyId, { secretAccessKey }]])
  /** Whether what is removed can be brought back. */
  keepsVersions = false
  readonly #folder: string
  #server: Server
  #port = 0
  #count = 0
  /** When each key was removed, and where its bytes are. */
  readonly #removed = new Map<string, { readonly time: Date; readonly path: string }>()

  private constructor(folder: string) {
    this.#folder = folder
    this.#server = this.#make()
  }

  static async start(folder?: string, port = 0): Promise<ObjectStorage> {
    const own = folder ?? (await mkdtemp(join(tmpdir(), 'switchboard-objects-')))
    await mkdir(own, { recursive: true })
    const storage = new ObjectStorage(own)
    storage.#port = port
    await storage.appear()
    return storage
  }

  /** The settings of a server that uses it, under a prefix of its own. */
  settings(prefix = 'some/prefix'): Record<string, string> {
    const endpoint = `http://127.0.0.1:${this.#port}`
    return {
      FILES_URL: `s3://${bucket}/${prefix}?endpoint=${endpoint}&region=${region}`,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    }
  }

  /** Nothing listens there any more. */
  async vanish(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async appear(): Promise<void> {
    this.#server = this.#make()
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async stop(): Promise<void> {
    if (this.#server.listening) await this.vanish()
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** Every key, sorted. */
  async keys(): Promise<string[]> {
    const names = await readdir(this.#folder)
    return names
      .filter((name) => !name.startsWith('~'))
      .map((name) => decodeURIComponent(name))
      .sort()
  }

  read(key: string): Promise<Buffer> {
    return readFile(this.#pathOf(key))
  }

  /** Takes an object away behind the back of its owner. */
  lose(key: string): Promise<void> {
    return rm(this.#pathOf(key))
  }

  /** As a request to delete it does. */
  async remove(key: string): Promise<void> {
    if (!this.keepsVersions) return rm(this.#pathOf(key), { force: true })
    const path = join(this.#folder, `~removed-${this.#count++}`)
    const isThere = await rename(this.#pathOf(key), path).then(
      () => true,
      () => false,
    )
    if (isThere) this.#removed.set(key, { time: new Date(), path })
  }

  /** Deletes the markers of what was removed since a time: it is there again. */
  async bringBack(since: Date): Promise<void> {
    for (const [key, { time, path }] of this.#removed) {
      if (time < since) continue
      await rename(path, this.#pathOf(key))
      this.#removed.delete(key)
    }
  }

  /** Puts an object there without a request, as if it had been there since `time`. */
  async plant(key: string, bytes: Uint8Array, time = new Date()): Promise<void> {
    await writeFile(this.#pathOf(key), bytes)
    await utimes(this.#pathOf(key), time, time)
  }

  #make(): Server {
    return createServer((request, response) => void this.#answer(request, response))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = new URL(request.url ?? '', 'http://storage')
      checkSignature(request, url, this.signers)
      const [, asked, ...rest] = url.pathname.split('/').map(decodeURIComponent)
      if (asked !== bucket) throw new Refused(404, 'NoSuchBucket')
      const seen = { method: request.method ?? '', key: rest.join('/') }
      const fault = await this.fault(seen)
      if (fault === 'silence') return
      if (fault && fault !== 'cut') throw new Refused(fault.status, fault.code)
      await this.#perform(request, response, seen, url, fault === 'cut')
    } catch (error) {
      if (response.headersSent || request.destroyed) return void response.destroy()
      const { status, code } = error instanceof Refused ? error : { status: 500, code: 'InternalError' }
      request.resume()
      response.writeHead(status, { 'content-type': 'application/xml', connection: 'close' })
      response.end(
        request.method === 'HEAD' ? '' : `<Error><Code>${code}</Code><Message>${accessKeyId}</Message></Error>`,
      )
    }
  }

  async #perform(request: IncomingMessage, response: ServerResponse, { method, key }: Seen, url: URL, isCut: boolean) {
    if (method === 'PUT') return this.#put(request, response, key)
    if (method === 'DELETE') {
      await this.remove(key)
      return void response.writeHead(204).end()
    }
    if (key === '') return void response.writeHead(200).end(await this.#list(url.searchParams))
    const { size, mtime } = await stat(this.#pathOf(key)).then(
      (found) => found,
      () => {
        throw new Refused(404, 'NoSuchKey')
      },
    )
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const start = Number(first ?? 0)
    const end = Math.min(Number(last ?? size - 1), size - 1)
    if (first !== undefined && start >= size) throw new Refused(416, 'InvalidRange')
    response.writeHead(first === undefined ? 200 : 206, {
      'content-length': Math.max(0, end - start + 1),
      'last-modified': mtime.toUTCString(),
      ...(first !== undefined && { 'content-range': `bytes ${start}-${end}/${size}` }),
    })
    if (method === 'HEAD' || size === 0) return void response.end()
    const until = isCut ? start + Math.floor((end - start) / 2) : end
    const source = createReadStream(this.#pathOf(key), { start, end: until })
    if (!isCut) return pipeline(source, response)
    for await (const chunk of source) response.write(chunk)
    response.write('', () => response.destroy())
  }

  async #put(request: IncomingMessage, response: ServerResponse, key: string): Promise<void> {
    if (request.headers['content-length'] === undefined) throw new Refused(411, 'MissingContentLength')
    const path = join(this.#folder, `~${this.#count++}-${process.pid}`)
    const handle = await open(path, 'w')
    const hash = createHash('sha256')
    let size = 0
    try {
      for await (const chunk of request) {
        hash.update(chunk)
        size += chunk.length
        await handle.write(chunk)
      }
      await handle.sync()
    } catch (error) {
      await rm(path, { force: true })
      throw error
    } finally {
      await handle.close()
    }
    if (size !== Number(request.headers['content-length'])) throw new Refused(400, 'IncompleteBody')
    if (hash.digest('hex') !== request.headers['x-amz-content-sha256'])
      throw new Refused(400, 'XAmzContentSHA256Mismatch')
    await rename(path, this.#pathOf(key))
    response.writeHead(200).end()
  }

  async #list(query: URLSearchParams): Promise<string> {
    if (query.get('list-type') !== '2') throw new Refused(400, 'InvalidArgument')
    const prefix = query.get('prefix') ?? ''
    const delimiter = query.get('delimiter')
    const after = query.get('continuation-token') ?? ''
    const entries = new Map<string, 'key' | 'prefix'>()
    for (const key of await this.keys()) {
      if (!key.startsWith(prefix)) continue
      const cut = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length)
      if (cut === -1) entries.set(key, 'key')
      else entries.set(key.slice(0, cut + 1), 'prefix')
    }
    const rest = [...entries].filter(([name]) => name > after)
    const page = rest.slice(0, pageSize)
    const next = rest.length > pageSize ? page.at(-1)?.[0] : undefined
    const parts = page.map(([name, kind]) =>
      kind === 'key'
        ? `<Contents><Key>${escapeXml(name)}</Key><Size>1</Size></Contents>`
        : `<CommonPrefixes><Prefix>${escapeXml(name)}</Prefix></CommonPrefixes>`,
    )
    const more = next === undefined ? '' : `<NextContinuationToken>${escapeXml(next)}</NextContinuationToken>`
    return `<?xml version="1.0"?><ListBucketResult><Name>${bucket}</Name><Prefix>${escapeXml(prefix)}</Prefix><IsTruncated>${next !== undefined}</IsTruncated>${more}${parts.join('')}</ListBucketResult>`
  }

  #pathOf(key: string): string {
    assert.notEqual(key, '')
    return join(this.#folder, encodeURIComponent(key))
  }
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest()
}

/** By the text of the request as it came, not by what the service meant. */
function checkSignature(request: IncomingMessage, url: URL, signers: ReadonlyMap<string, SigningKey>): void {
  const { authorization = '', 'x-amz-date': date = '', 'x-amz-content-sha256': payload = '' } = request.headers
  const parsed =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([\da-f]{64})$/.exec(
      authorization,
    )
  if (!parsed) throw new Refused(403, 'AccessDenied')
  const [, id, day, inRegion, names = '', signature = ''] = parsed
  const time = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(date))
  if (!time || time.slice(1, 4).join('') !== day) throw new Refused(403, 'AccessDenied')
  const [year, month, dayOfMonth, ...clock] = time.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (Math.abs(Date.UTC(year, month - 1, dayOfMonth, ...clock) - Date.now()) > maxSkew) {
    throw new Refused(403, 'RequestTimeTooSkewed')
  }
  const signer = signers.get(String(id))
  if (!signer || inRegion !== region) throw new Refused(403, 'InvalidAccessKeyId')
  if (request.headers['x-amz-security-token'] !== signer.sessionToken) throw new Refused(400, 'InvalidToken')
  const signed = names.split(';')
  const mustBeSigned = Object.keys(request.headers).filter((name) => name === 'host' || name.startsWith('x-amz-'))
  if (!mustBeSigned.every((name) => signed.includes(name))) throw new Refused(403, 'AccessDenied')
  const query = url.search.slice(1).split('&').filter(Boolean).sort().join('&')
  const headers = signed.map((name) => `${name}:${String(request.headers[name]).trim()}\n`).join('')
  const canonical = `${request.method}\n${url.pathname}\n${query}\n${headers}\n${names}\n${String(payload)}`
  const scope = `${day}/${inRegion}/s3/aws4_request`
  const text = `AWS4-HMAC-SHA256\n${String(date)}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`
  const key = hmac(
    hmac(hmac(hmac(`AWS4${signer.secretAccessKey}`, String(day)), String(inRegion)), 's3'),
    'aws4_request',
  )
  if (!timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'))) throw new Refused(403, 'SignatureDoesNotMatch')
  if (signer.isExpired) throw new Refused(400, 'ExpiredToken')
}
