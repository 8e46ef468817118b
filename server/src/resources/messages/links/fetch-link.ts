import type { Readable } from 'node:stream'
import type { Egress, OpenedFile } from '../../../egress/egress.ts'
import { EgressError, type EgressReason, explainFailure } from '../../../egress/egress-error.ts'
import type { Files } from '../../../files/files.ts'
import { GraphError } from '../../../graph/graph-error.ts'
import type { Settings } from '../../../graph/settings.ts'
import { checkArrived, checkWhileArriving, fileTooLarge, maxBytesOf } from '../../media/public.ts'
import type { MediaMessageKind } from '../content/kinds.ts'

const maxRedirects = 3
const redirects = [301, 302, 303, 307, 308]
/** What a failed fetch says of its host: that it did not respond in time, or that it may do better at once. */
type LinkFailure = 'silent' | 'passing' | 'final'

/** Why the file behind a link was not fetched. The message names no address. */
export class LinkError extends Error {
  readonly failure: LinkFailure

  constructor(message: string, failure: LinkFailure = 'final') {
    super(message)
    this.failure = failure
  }
}

export interface FetchDeps {
  readonly egress: Egress
  readonly files: Files
  readonly settings: Settings
}

export interface FetchedFile {
  readonly mime_type: string
  readonly sha256: string
  readonly file_size: number
}

/**
 * Fetches the file behind a link and holds it for whoever uses it; a `LinkError` says why not. Tries twice where that may help, but not
 * a host that is silent anyway.
 */
export async function fetchLink(
  deps: FetchDeps,
  link: string,
  kind: MediaMessageKind,
  { stopping, isSilent }: { readonly stopping: AbortSignal; readonly isSilent: boolean },
): Promise<FetchedFile> {
  try {
    return await fetchOnce(deps, link, kind, stopping)
  } catch (error) {
    if (!(error instanceof LinkError) || error.failure === 'final') throw error
    if (isSilent && error.failure === 'silent') throw error
    return fetchOnce(deps, link, kind, stopping)
  }
}

async function fetchOnce(deps: FetchDeps, link: string, kind: MediaMessageKind, stopping: AbortSignal) {
  const deadline = new AbortController()
  const late = () => deadline.abort(new EgressError('timeout', 'the file did not arrive in time'))
  const timer = setTimeout(late, deps.settings.linkFetchTimeout)
  try {
    const signal = AbortSignal.any([deadline.signal, stopping])
    const { body, headers } = await follow(deps.egress, link, signal)
    return await receive(deps, body, Number(headers['content-length']), kind)
  } catch (error) {
    // Of a type that is not taken, or too large for it.
    throw error instanceof GraphError ? new LinkError(error.message) : error
  } finally {
    clearTimeout(timer)
  }
}

/** Why the network failed; a fault of our own is thrown from here. */
function explain(error: unknown): Error {
  if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new LinkError('the connection was lost before the file was complete', 'passing')
  }
  const failure = explainFailure(error)
  return failure.reason === 'closed' ? failure : new LinkError(failure.message, judge(failure.reason))
}

function judge(reason: EgressReason): LinkFailure {
  if (reason === 'timeout') return 'silent'
  return reason === 'connection_failed' ? 'passing' : 'final'
}

/** The response at the end of the redirects, each of which is guarded like the link itself. */
async function follow(egress: Egress, link: string, signal: AbortSignal): Promise<OpenedFile> {
  let url = link
  for (let count = 0; count <= maxRedirects; count += 1) {
    const response = await egress.open(url, signal).catch((error: unknown) => {
      throw explain(error)
    })
    if (response.status === 200) return response
    discard(response.body)
    if (!redirects.includes(response.status)) {
      throw new LinkError(`its host answered ${response.status}`, response.status >= 500 ? 'passing' : 'final')
    }
    url = readLocation(response.headers['location'], url)
  }
  throw new LinkError(`it was redirected more than ${maxRedirects} times`)
}

function readLocation(location: string | string[] | undefined, from: string): string {
  const next = typeof location === 'string' ? URL.parse(location, from) : null
  if (!next) throw new LinkError('its host redirected it to nowhere')
  next.hash = ''
  return next.href
}

/** Ends a response whose body is not wanted. */
function discard(body: Readable): void {
  body.on('error', () => undefined)
  body.destroy()
}

async function receive(
  { files, settings }: FetchDeps,
  body: Readable,
  announced: number,
  kind: MediaMessageKind,
): Promise<FetchedFile> {
  // It may break off before it is read; then the reader gets the error.
  body.on('error', () => undefined)
  const max = maxBytesOf(kind === 'sticker' ? 'animated sticker' : kind, settings)
  if (announced > max) {
    body.destroy()
    throw tooLarge(kind, max)
  }
  const file = await files.receive(checkWhileArriving(limit(body, kind, max), settings))
  try {
    const mime_type = await checkArrived(file, settings)
    await file.keep()
    return { mime_type, sha256: file.sha256, file_size: file.size }
  } finally {
    await file.discard()
  }
}

/** Passes on bytes until there are more than a message of the kind takes. */
async function* limit(body: Readable, kind: MediaMessageKind, max: number): AsyncGenerator<Uint8Array> {
  let size = 0
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.length
      if (size > max) throw tooLarge(kind, max)
      yield chunk
    }
  } catch (error) {
    throw error instanceof GraphError ? error : explain(error)
  }
}

function tooLarge(kind: MediaMessageKind, max: number): GraphError {
  return fileTooLarge({ kind: `a file of the kind ${kind}`, max })
}
