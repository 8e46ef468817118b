/** Who signs. Never logged. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
}

export interface TemporaryCredentials extends Credentials {
  /** In milliseconds since the Unix epoch; Infinity where the source names no end. */
  readonly expires: number
}

/** Gives out the credentials of a role. A failure is a `FilesUnavailable`, whose message holds no secret. */
export interface RoleSource {
  /** For the log. */
  readonly name: string
  /** What to do when it fails. */
  readonly advice: string
  fetch(signal: AbortSignal): Promise<TemporaryCredentials>
}

/** The credentials to sign the next request with. */
export interface CredentialProvider {
  get(): Promise<Credentials>
  /** Others in place of those that the object storage refused as expired; undefined where there are none. */
  replace(refused: Credentials): Promise<Credentials | undefined>
  close(): void
}

export function makeStaticProvider(credentials: Credentials): CredentialProvider {
  return { get: async () => credentials, replace: async () => undefined, close: () => undefined }
}

/** Whether a value can be sent in a header as it is: without blanks and line breaks. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
}
