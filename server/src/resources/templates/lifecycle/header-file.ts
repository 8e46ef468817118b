import type { Transaction } from '../../../db/database.ts'
import type { TemplateCard, TemplateComponent } from '../../../db/tables.ts'
import { releaseFile } from '../../../files/files.ts'
import { takeUpload } from '../../uploads/store.ts'
import type { ReadComponents } from '../components/read-components.ts'
import type { MediaHeader } from '../components/read-parts.ts'
import { headerHandleUnknown } from '../errors.ts'
import { cardPath, cardsOf, checkHeaderType, headerPath } from '../rules.ts'
import { filesOf, headerUse, type Template, type Tools } from '../store.ts'

/** Components with the files of their headers, as they are stored. */
type Filed = Pick<Template, 'components' | 'header_sha256' | 'header_type'>
type File = NonNullable<TemplateCard['file']>

const nothing: Filed = { components: [], header_sha256: null, header_type: null }

/** Who gives a header its file. */
export interface HeaderGiver extends Tools {
  readonly business_id: string
}

/**
 * Gives the headers of a template and of its cards their files: the files of handles, which are used up by this, or the files that they have
 * already where the handle is the address that a read showed, or is left out. Files that no header has any more are released.
 */
export async function takeHeaderFiles(
  tx: Transaction,
  giver: HeaderGiver,
  id: string,
  { components, header, cards }: ReadComponents,
  before: Filed = nothing,
): Promise<Filed> {
  const { header_sha256, header_type } = before
  const ofHeader =
    header_sha256 !== null && header_type !== null ? { sha256: header_sha256, type: header_type } : undefined
  const ofCards = cardsOf(before.components).map(({ file }) => file)
  /** The file that stands at an address of this template. */
  const findShown = (handle: string) => {
    if (isAddressOf(headerPath(id), handle)) return ofHeader
    return ofCards.find((_file, index) => isAddressOf(cardPath(id, index), handle))
  }
  const take = async ({ format, handle }: MediaHeader, kept: File | undefined): Promise<File | undefined> => {
    if (handle === undefined) return kept
    const file = findShown(handle) ?? (await takeHandle(tx, giver, id, handle))
    checkHeaderType(format, file.type)
    return file
  }
  const file = header && (await take(header, ofHeader))
  const files: (File | undefined)[] = []
  for (const [index, card] of cards.entries()) files.push(await take(card, ofCards[index]))
  const after: Filed = {
    components: components.map((component) => withFiles(component, files)),
    header_sha256: file?.sha256 ?? null,
    header_type: file?.type ?? null,
  }
  const used = filesOf(after)
  for (const sha256 of filesOf(before)) {
    if (!used.includes(sha256)) await releaseFile(tx, giver, sha256, headerUse(id))
  }
  return after
}

/** The cards of a carousel with the files of their headers. */
export function withFiles(component: TemplateComponent, files: readonly (File | undefined)[]): TemplateComponent {
  if (!component.cards) return component
  const cards = component.cards.map(({ components }, index) => {
    const file = files[index]
    return { components, ...(file && { file }) }
  })
  return { ...component, cards }
}

async function takeHandle(tx: Transaction, giver: HeaderGiver, id: string, handle: string): Promise<File> {
  const upload = await takeUpload(tx, giver, giver.business_id, handle, headerUse(id))
  if (!upload) throw headerHandleUnknown()
  return { sha256: upload.sha256, type: upload.file_type }
}

/** Under whatever name the service was called: processes may have different ones, and it may change. */
function isAddressOf(path: string, handle: string): boolean {
  return URL.canParse(handle) && new URL(handle).pathname.endsWith(path)
}
