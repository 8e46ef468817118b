import type { Files, ReceivedFile } from '../../files/files.ts'
import type { Arguments } from '../../graph/input/input.ts'
import type { FileMember } from '../../graph/operation.ts'
import type { Settings } from '../../graph/settings.ts'
import type { BodyHold } from './body-budget.ts'

/** How a file is received. */
export interface FileReception {
  readonly member: FileMember
  /** The largest total size of the other members. */
  readonly maxBodyBytes: number
  readonly settings: Settings
  readonly files: Files
  /** Has the other members while they arrive. */
  readonly hold: BodyHold
}

export interface FileBody {
  readonly arguments: Arguments
  /** The receiver of this value keeps the file or discards it. */
  readonly file?: ReceivedFile | undefined
}
