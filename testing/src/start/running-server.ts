import { randomInt } from 'node:crypto'
import { Switchboard } from '@switchboard/client'
import { describeApps, describeKeys, type ExportedWorld, type StoreKeys } from './prepared-store.ts'
import type { RunningServer } from './server-process.ts'

export interface RunningOptions {
  readonly url: string | URL
  readonly operatorToken?: string | undefined
  readonly gatewayToken?: string | undefined
}

/** A server that runs already, with apps of ours beside those of its world; they are unlinked at the end. */
export async function joinServer(options: RunningOptions): Promise<{
  readonly server: RunningServer
  readonly keys: StoreKeys
  readonly vocabulary: 'msgapp' | 'whatsapp'
}> {
  const { operatorToken = 'demo-operator-token', gatewayToken = 'demo-gateway-token' } = options
  const { baseUrl: url, operator } = new Switchboard({ baseUrl: options.url, operatorToken })
  const { vocabulary, sandbox } = await operator.state.retrieve()
  if (!sandbox) throw new Error(`the server at ${url} is no sandbox: start it with SANDBOX=on`)
  const exported = await operator.world.export({ headers: { accept: 'application/json' } })
  const world = (await exported.json()) as ExportedWorld
  // Others may test on the same server.
  const firstId = 3_990_000_000_000_000 + randomInt(1, 9_000_000) * 1_000
  const keys = describeKeys({ operatorToken, gatewayToken }, world, firstId)
  await operator.world.apply(describeApps(keys, vocabulary))
  const server: RunningServer = {
    url,
    pid: 0,
    // When it ends is not known here.
    ended: new Promise<string>(() => undefined),
    log: () => '',
    logged: 0,
    stop: async () => undefined,
    discard: async () => void (await operator.world.apply({ accounts: keys.accounts })),
  }
  return { server, keys, vocabulary: vocabulary as 'msgapp' | 'whatsapp' }
}
