import { BadSetting } from '../../base/setting-parsers.ts'

/** A server of PostgreSQL; `name` may be an address, or the folder of a socket. */
export interface Host {
  readonly name: string
  readonly port: number
}

/** Which host is the right one, by the names of libpq; the service writes, so the other names of libpq are refused. */
export type SessionKind = 'read-write' | 'primary'

export interface HostChoice {
  readonly hosts: readonly Host[]
  readonly session: SessionKind
}

export interface DatabaseUrl {
  /** With one host, for the driver, which knows no more. */
  readonly connectionString: string
  /** Undefined where the URL leaves no choice: one host, and nothing asked of it. */
  readonly choice: HostChoice | undefined
}

const form = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?$/i
const listEntry = /^(?:\[([\da-f:.]+)\]|([^:[\]]+))(?::(\d*))?$/i
const defaultPort = '5432'
const largestPort = 65_535

/** Parses the setting. */
export function postgresUrl(text: string): string {
  parseDatabaseUrl(text)
  return text
}

/** Takes what libpq takes: several hosts with commas, each with its port, also as `host` and `port` of the query, and `target_session_attrs`. */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const [, scheme, credentials, hostList = '', path = '', query = ''] = form.exec(text) ?? []
  if (scheme === undefined) throw badUrl()
  const parameters = new URLSearchParams(query)
  const session = parameters.get('target_session_attrs')
  const isList = hostList.includes(',') || (parameters.get('host') ?? '').includes(',')
  const isUnasked = session === null || (session === 'any' && !isList)
  if (!isUnasked && session !== 'read-write' && session !== 'primary') throw badSession()
  if (isUnasked && !isList) {
    if (!URL.canParse(text)) throw badUrl()
    return { connectionString: text, choice: undefined }
  }
  const hosts = readHosts(hostList, parameters)
  for (const name of ['host', 'port', 'target_session_attrs']) parameters.delete(name)
  const first = hosts[0] as Host
  const address = first.name.includes(':') ? `[${first.name}]` : encodeURIComponent(first.name)
  const login = credentials === undefined ? '' : `${credentials}@`
  const rest = parameters.size > 0 ? `?${parameters}` : ''
  const connectionString = `${scheme}${login}${address}:${first.port}${path}${rest}`
  if (!URL.canParse(connectionString)) throw badUrl()
  return { connectionString, choice: { hosts, session: session === 'primary' ? 'primary' : 'read-write' } }
}

/** How a host is shown. */
export function writeHost({ name, port }: Host): string {
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`
}

function readHosts(hostList: string, parameters: URLSearchParams): Host[] {
  const named = parameters.get('host')
  const entries =
    named === null ? hostList.split(',').map(readEntry) : named.split(',').map((name) => ({ name, port: '' }))
  const ports = parameters.get('port')?.split(',')
  if (ports && ports.length !== 1 && ports.length !== entries.length) throw badList()
  return entries.map(({ name, port }, index) => {
    const given = ports ? ports[ports.length === 1 ? 0 : index] : port
    const number = Number(given || defaultPort)
    if (name === '' || !(Number.isInteger(number) && number > 0 && number <= largestPort)) throw badList()
    return { name, port: number }
  })
}

function readEntry(entry: string): { name: string; port: string } {
  const [, address, name = '', port = ''] = listEntry.exec(entry) ?? []
  try {
    return { name: address ?? decodeURIComponent(name), port }
  } catch {
    throw badList()
  }
}

function badUrl(): BadSetting {
  return new BadSetting(
    'a URL such as postgres://user:password@host:5432/database, or with several hosts postgres://user:password@a:5432,b:5432/database',
  )
}

function badList(): BadSetting {
  return new BadSetting(
    'a URL whose hosts are separated by commas, each with its port if that is not 5432, such as postgres://user:password@a:5432,[fd00::1]:5433/database',
  )
}

function badSession(): BadSetting {
  return new BadSetting('a URL with target_session_attrs=read-write or primary, because the service writes')
}
