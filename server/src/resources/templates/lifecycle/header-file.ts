import type { Transaction } from '../../../db/database.ts'
import { releaseFile } from '../../../files/files.ts'
import { takeUpload } from '../../uploads/store.ts'
import type { ReadComponents } from '../components/read-components.ts'
import { headerHandleUnknown } from '../errors.ts'
import { checkHeaderType, headerPath } from '../rules.ts'
import { headerUse, type Template, type Tools } from '../store.ts'

export type HeaderFile = Pick<Template, 'header_sha256' | 'header_type'>

const noFile: HeaderFile = { header_sha256: null, header_type: null }

/** Who gives a header its file. */
export interface HeaderGiver extends Tools {
  readonly business_id: string
}

/**
 * The file that the header of a template has from now on: that of a handle, which is used up by this, or the one that it has already
 * where the handle is the address that a read showed. A file that the header had before and has no more is released.
 */
export async function takeHeaderFile(
  tx: Transaction,
  giver: HeaderGiver,
  id: string,
  header: ReadComponents['header'],
  before: HeaderFile = noFile,
): Promise<HeaderFile> {
  const file = await findFile(tx, giver, id, header, before)
  const { header_sha256 } = before
  if (header_sha256 !== null && header_sha256 !== file.header_sha256) {
    await releaseFile(tx, giver, header_sha256, headerUse(id))
  }
  return file
}

async function findFile(
  tx: Transaction,
  giver: HeaderGiver,
  id: string,
  header: ReadComponents['header'],
  before: HeaderFile,
): Promise<HeaderFile> {
  if (!header) return noFile
  const { format, handle } = header
  // A whole template may be given, whose other columns are none of the file's.
  const { header_sha256, header_type } = before
  const kept = { header_sha256, header_type }
  if (handle === undefined) return kept
  if (header_type !== null && isAddressOf(id, handle)) {
    checkHeaderType(format, header_type)
    return kept
  }
  const upload = await takeUpload(tx, giver, giver.business_id, handle, headerUse(id))
  if (!upload) throw headerHandleUnknown()
  checkHeaderType(format, upload.file_type)
  return { header_sha256: upload.sha256, header_type: upload.file_type }
}

/** Under whatever name the service was called: processes may have different ones, and it may change. */
function isAddressOf(id: string, handle: string): boolean {
  return URL.canParse(handle) && new URL(handle).pathname.endsWith(headerPath(id))
}
