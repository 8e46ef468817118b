/**
 * The storage of files cannot do its work at the moment: it does not respond (`away`), takes no more bytes (`full`), or refuses
 * (`refused`: its operator has to change something). The message is for the operator's log and names no secret.
 */
export class FilesUnavailable extends Error {
  readonly kind: 'away' | 'full' | 'refused'

  constructor(kind: 'away' | 'full' | 'refused', message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}
