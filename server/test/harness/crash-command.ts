import type { StorePlace } from './databases.ts'

type Environment = Readonly<Record<string, string>>

/** The settings of a server that will be killed: a quiet log, and short retry delays. */
export function crashCommand(
  { dataDir, databaseUrl }: StorePlace,
  { world, env = {} }: { world?: string | undefined; env?: Environment },
): [args: string[], options: { cwd: string; env: Environment }] {
  const args = ['serve', '--port', '0', '--data', dataDir, ...(world === undefined ? [] : ['--world', world])]
  return [
    args,
    {
      cwd: dataDir,
      env: {
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
        LOG_LEVEL: 'silent',
        RATE_LIMITS: 'off',
        WEBHOOK_RETRY_DELAYS: '20ms,50ms,100ms',
        WEBHOOK_TIMEOUT: '500ms',
        WEBHOOK_LEASE: '200ms',
        ...env,
      },
    },
  ]
}
