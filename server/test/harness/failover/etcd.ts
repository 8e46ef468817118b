import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findNobody, findProgram, Program, takePort } from '../cluster/programs.ts'
import { until } from '../until.ts'
import type { Keeper } from './keeper.ts'

/** The store in which Patroni keeps who is the primary; returns its port. */
export async function startEtcd(keeper: Keeper): Promise<number> {
  const path = await findProgram('etcd', 'etcd-server')
  const folder = await makeFolder(keeper, 'etcd')
  const [port, peerPort] = [await takePort(), await takePort()]
  const [own, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`]
  const settings = {
    'data-dir': join(folder, 'data'),
    'listen-client-urls': own,
    'advertise-client-urls': own,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
    'enable-v2': 'true',
    'log-level': 'error',
  }
  const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
  const program = await new Program(path, args, port, { isUnprivileged: true, folder }).start()
  keeper.watch(program.pid)
  await until(async () => (await fetch(`${own}/health`)).ok, 'etcd has elected itself')
  return port
}

/** A folder of the user as whom programs of the system run. */
export async function makeFolder(keeper: Keeper, name: string): Promise<string> {
  const folder = join(keeper.folder, name)
  await mkdir(folder, { mode: 0o755 })
  if (process.getuid?.() === 0) {
    const { uid, gid } = await findNobody()
    await chown(folder, uid, gid)
  }
  return folder
}
