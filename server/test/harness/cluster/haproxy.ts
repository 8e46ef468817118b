import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, Program, takePort } from './programs.ts'

export interface Haproxy {
  readonly program: Program
  readonly url: string
  stop(): Promise<void>
}

/** HAProxy in front of the processes on some ports; those that are not ready get nothing. As in deploy/haproxy.cfg, but quicker. */
export async function startHaproxy(ports: readonly number[]): Promise<Haproxy> {
  const path = await findProgram('haproxy')
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-haproxy-'))
  const own = await takePort()
  const file = join(folder, 'haproxy.cfg')
  const servers = ports.map((port, index) => `  server api${index + 1} 127.0.0.1:${port} check`)
  await writeFile(
    file,
    `global
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
  option httpchk GET /readyz
  http-check expect status 200
  default-server inter 250ms fall 2 rise 1
${servers.join('\n')}
`,
  )
  const program = await new Program(path, ['-db', '-f', file], own).start()
  return {
    program,
    url: `http://127.0.0.1:${own}`,
    async stop() {
      await program.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
