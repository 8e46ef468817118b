import { openAsBlob } from 'node:fs'
import { basename } from 'node:path'

/** A file of the disk, for uploads: it is read while it is sent, and is never whole in memory. Node only. */
export async function openFile(path: string, options: { readonly type?: string } = {}): Promise<File> {
  // A File of parts keeps them as they are: nothing is read yet.
  return new File([await openAsBlob(path)], basename(path), options)
}
