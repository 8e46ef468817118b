/** The tokens of worlds/demo.yaml. Everybody who has read it knows them, so they are good on this machine alone. */
export const demoTokens = {
  owner: 'demo-token',
  partner: 'demo-partner-token',
  gateway: 'demo-gateway-token',
  granular: 'demo-granular-token',
} as const

/** What the apps of worlds/demo.yaml sign with. */
export const demoAppSecrets = ['shrub-app-secret', 'partner-app-secret'] as const

const tokens: ReadonlySet<string> = new Set(Object.values(demoTokens))
const appSecrets: ReadonlySet<string> = new Set(demoAppSecrets)

export function isDemoToken(secret: string): boolean {
  return tokens.has(secret)
}

export function isDemoAppSecret(secret: string): boolean {
  return appSecrets.has(secret)
}
