/** The verify token that somebody chose for an app stays in the browser, so that a receiver that was started with it is still right after a reload. */
const nameFor = (app: string): string => `switchboard-verify-token-${app}`

export function findVerifyToken(app: string): string | undefined {
  return localStorage.getItem(nameFor(app)) ?? undefined
}

export function keepVerifyToken(app: string, token: string): void {
  localStorage.setItem(nameFor(app), token)
}

export function drawVerifyToken(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(36).padStart(2, '0'))
    .join('')
    .slice(0, 20)
}
