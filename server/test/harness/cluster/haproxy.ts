import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, Program, takePort } from './programs.ts'

export interface Haproxy {
  readonly program: Program
  readonly port: number
  readonly url: string
  stop(): Promise<void>
}

/** HAProxy in front of the processes on some ports; processes that cannot serve get nothing. As in deploy/haproxy.cfg, but quicker. */
export function startHaproxy(ports: readonly number[], parent = tmpdir()): Promise<Haproxy> {
  const servers = ports.map((port, index) => `  server api${index + 1} 127.0.0.1:${port} check`)
  return start(
    parent,
    (own) => `global
  maxconn 2000
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  retries 3
  option redispatch
  retry-on conn-failure
frontend public
  bind 127.0.0.1:${own}
  default_backend api
backend api
  balance roundrobin
  option forwardfor
  option httpchk GET /readyz/process
  http-check expect status 200
  default-server inter 250ms fall 2 rise 1
${servers.join('\n')}
`,
  )
}

/** HAProxy in front of the nodes of a database; only the one of which Patroni says that it is the primary gets connections. */
export function startPostgresHaproxy(
  nodes: readonly { port: number; checkPort: number }[],
  parent: string,
): Promise<Haproxy> {
  const servers = nodes.map(
    ({ port, checkPort }, index) => `  server node${index + 1} 127.0.0.1:${port} check port ${checkPort}`,
  )
  return start(
    parent,
    (own) => `global
  maxconn 2000
defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  timeout client 1h
  timeout server 1h
frontend postgres
  bind 127.0.0.1:${own}
  default_backend primary
backend primary
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`,
  )
}

async function start(parent: string, writeConfiguration: (port: number) => string): Promise<Haproxy> {
  const path = await findProgram('haproxy')
  const folder = await mkdtemp(join(parent, 'switchboard-haproxy-'))
  const port = await takePort()
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, writeConfiguration(port))
  const program = await new Program(path, ['-db', '-f', file], port).start()
  return {
    program,
    port,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      await program.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
