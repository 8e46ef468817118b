/** The tokens of worlds/demo.yaml. They are public, so they are valid only on this machine. */
export const demoTokens = {
  owner: 'demo-token',
  partner: 'demo-partner-token',
  gateway: 'demo-gateway-token',
  operator: 'demo-operator-token',
  granular: 'demo-granular-token',
} as const

/** The app secrets of worlds/demo.yaml. */
export const demoAppSecrets = ['shrub-app-secret', 'partner-app-secret'] as const

const tokens: ReadonlySet<string> = new Set(Object.values(demoTokens))
const appSecrets: ReadonlySet<string> = new Set(demoAppSecrets)

/** Also the tokens that apps have by their secrets, which end with these. */
export function isDemoToken(secret: string): boolean {
  return tokens.has(secret) || isDemoAppSecret(secret.slice(secret.indexOf('|') + 1))
}

export function isDemoAppSecret(secret: string): boolean {
  return appSecrets.has(secret)
}
