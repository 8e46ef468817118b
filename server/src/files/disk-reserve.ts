import { statfs } from 'node:fs/promises'
import { FilesUnavailable } from './unavailable.ts'

const usualReserve = 100_000_000
/** Of a small disk, a part. */
const usualShare = 0.05

/** What files take of the disk must not keep the store from being written to. Undefined: as much stays free as is usual. */
export async function checkDisk(folder: string, reserve: number | undefined): Promise<void> {
  if (reserve === 0) return
  const { bavail, blocks, bsize } = await statfs(folder)
  if (bavail * bsize < (reserve ?? Math.min(usualReserve, blocks * bsize * usualShare))) {
    throw new FilesUnavailable('full', `the disk of ${folder} has less than DISK_RESERVE free`)
  }
}
