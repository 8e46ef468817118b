import type { Switchboard } from '@switchboard/client'
import type { RunningServer } from '../start/server-process.ts'
import { fold } from './describe.ts'

const shownRequests = 3
const shownErrors = 3
/** The test has half a second left, or a little more. */
const timeoutMs = 500

/** What the server knows of why something did not come: requests that it refused, and its own errors. */
export class Reasons {
  readonly #client: Switchboard
  readonly #server: RunningServer
  #begun = Date.now()
  #logged: number

  constructor(client: Switchboard, server: RunningServer) {
    this.#client = client
    this.#server = server
    this.#logged = server.logged
  }

  /** What was before is no reason any more. */
  begin(): void {
    this.#begun = Date.now()
    this.#logged = this.#server.logged
  }

  async list(): Promise<string[]> {
    return [...(await this.#listRefused()), ...this.listErrors()]
  }

  /** The errors that the server logged, in lines. */
  listErrors(): string[] {
    const lines = this.#server.log(this.#logged).split('\n').filter(isError).slice(-shownErrors)
    return lines.length === 0 ? [] : ['The server logged errors:', ...lines.map((line) => `  ${fold(line, 1_000)}`)]
  }

  async #listRefused(): Promise<string[]> {
    const filter = { door: 'business', errors: true, limit: 20, fields: 'target' } as const
    const options = { timeout: timeoutMs, maxRetries: 0 }
    try {
      const { data } = await this.#client.operator.requests.list(filter, options)
      const refused = data.filter(({ time }) => Date.parse(time) >= this.#begun).slice(0, shownRequests)
      if (refused.length === 0) return []
      const lines = refused.reverse().map(({ method, target, status, error, fault }) => {
        const why = error === null ? '' : ` ${error.code} ${fold(error.message, 300)}`
        return `  ${method} ${target} → ${status}${why}${fault === undefined ? '' : ` (fault: ${fault})`}`
      })
      return ['The server refused requests:', ...lines]
    } catch (error) {
      return [`(Whether the server refused requests is not known: ${(error as Error).message})`]
    }
  }
}

/** A line of the log, as JSON; one that is no JSON was written by a process that is ending. */
function isError(line: string): boolean {
  return /"level":\s*(?:"(?:error|fatal)"|[56]0\b)/.test(line)
}
