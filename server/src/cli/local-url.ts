import type { Environment } from '../base/environment.ts'

export interface LocalAddress {
  readonly host: string
  readonly port: string
}

/** The address of a server with the settings of this environment. */
export function findLocalAddress(environment: Environment): LocalAddress {
  return { host: environment['HOST'] || '127.0.0.1', port: environment['PORT'] || '8080' }
}

/** A server that listens on every address of a machine is reachable on its loopback too. */
export function writeLocalUrl({ host, port }: { host: string; port: string | number }): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}
