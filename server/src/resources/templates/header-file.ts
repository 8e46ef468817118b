import type { Transaction } from '../../db/database.ts'
import { releaseFile } from '../../files/files.ts'
import { takeUpload } from '../uploads/store.ts'
import { headerHandleUnknown } from './errors.ts'
import type { ReadComponents } from './read-components.ts'
import { checkHeaderType, headerPath } from './rules.ts'
import { headerUse, type Template, type Tools } from './store.ts'

export type HeaderFile = Pick<Template, 'header_sha256' | 'header_type'>

const noFile: HeaderFile = { header_sha256: null, header_type: null }

/** Who gives a header its file. */
export interface HeaderGiver extends Tools {
  readonly business_id: string
  readonly publicUrl: string
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
  if (handle === undefined) return before
  const { header_type } = before
  if (header_type !== null && handle.startsWith(`${giver.publicUrl}${headerPath(id)}?`)) {
    checkHeaderType(format, header_type)
    return before
  }
  const upload = await takeUpload(tx, giver, giver.business_id, handle, headerUse(id))
  if (!upload) throw headerHandleUnknown()
  checkHeaderType(format, upload.file_type)
  return { header_sha256: upload.sha256, header_type: upload.file_type }
}
