import assert from 'node:assert/strict'

/** What our configurations of HAProxy say, by kind of section; another line must be added here. */

const time = '\\d+(ms|s|m|h)'
const condition = '( (if|unless) !?\\w+)?'
const lines: Readonly<Record<string, readonly string[]>> = {
  global: ['maxconn \\d+', 'log stdout format raw \\w+'],
  defaults: [
    'mode (http|tcp)',
    'log global',
    'option (redispatch|tcplog|clitcpka|srvtcpka)',
    'log-format "[^"]+"',
    `timeout (connect|client|server|http-request) ${time}`,
    'retries \\d+',
    'retry-on conn-failure',
    'http-error status 50[234] content-type application/json string ".+" hdr Retry-After \\d+',
  ],
  resolvers: ['parse-resolv-conf', `hold valid ${time}`],
  frontend: [
    'bind :\\d+',
    `http-request set-header [\\w-]+ (\\w+|%\\[src\\])${condition}`,
    `http-request del-header [\\w-]+${condition}`,
    "http-request set-var\\(txn\\.\\w+\\) 'path,regsub\\(\\S+\\)'",
    'acl \\w+ path,url_dec -m reg \\S+',
    `http-request deny deny_status \\d{3}${condition}`,
    'default_backend \\w+',
  ],
  backend: [
    'balance (leastconn|roundrobin)',
    'option httpchk GET /[\\w/]+',
    `timeout check ${time}`,
    'http-check expect status \\d{3}',
    `default-server inter ${time} fall \\d+ rise \\d+( on-marked-down shutdown-sessions)? init-addr [\\w,]+ resolvers \\w+`,
    'server \\w+ [\\w.]+:\\d+ check( port \\d+)?',
  ],
}

export interface Section {
  readonly kind: string
  readonly name: string
  readonly lines: readonly string[]
}

/** Reads a configuration; throws at a line that is not of its section. */
export function readHaproxy(source: string): Section[] {
  const sections: (Section & { readonly lines: string[] })[] = []
  for (const [index, line] of source.split('\n').entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue
    const where = `line ${index + 1}: ${line}`
    const [, indent = '', rest = ''] = /^( *)(\S.*)$/.exec(line) ?? []
    if (indent === '') {
      const [kind = '', name = ''] = rest.split(' ')
      assert.ok(lines[kind], `no such section, ${where}`)
      sections.push({ kind, name, lines: [] })
      continue
    }
    const section = sections.at(-1)
    const known = lines[section?.kind ?? ''] ?? []
    assert.ok(
      known.some((pattern) => new RegExp(`^${pattern}$`).test(rest)),
      `not known in this section, ${where}`,
    )
    section?.lines.push(rest)
  }
  return sections
}
