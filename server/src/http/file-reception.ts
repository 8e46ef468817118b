import type { Files, ReceivedFile } from '../files/files.ts'
import type { Arguments } from '../graph/input.ts'
import type { FileMember } from '../graph/operation.ts'
import type { Settings } from '../graph/settings.ts'

/** How a file is received. */
export interface FileReception {
  readonly member: FileMember
  /** The most that the members besides it may have. */
  readonly maxBodyBytes: number
  readonly settings: Settings
  readonly files: Files
}

export interface FileBody {
  readonly arguments: Arguments
  /** Whoever gets it keeps it or lets it go. */
  readonly file?: ReceivedFile | undefined
}
