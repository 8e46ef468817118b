import { systemRandom } from '../../base/keys/random.ts'
import { silentLog } from '../../base/log/log.ts'
import { systemClock } from '../../base/time/clock.ts'
import { BadSetting, type Config } from '../../config.ts'
import { type Copied, copyFiles } from '../../files/copy.ts'
import { type FileSettings, openFileStores } from '../../files/open.ts'
import { chooseSource } from '../../files/s3/credentials/choose.ts'
import { type ObjectLocation, parseObjectLocation } from '../../files/s3/location.ts'
import { fileOf } from '../../resources/uploads/store.ts'
import { CommandFailed } from '../fail.ts'
import { withLockedStore } from '../store.ts'

const barWidth = 30
/** Where a line cannot be drawn over, one is printed at every so many percent. */
const lineEvery = 10

/** Copies the files of a store to another storage; may be repeated. */
export async function copy(flags: { from: string; to: string; data?: string }): Promise<void> {
  await withLockedStore(
    { DATA_DIR: flags.data },
    async (database, config) => {
      const [source, target] = [flags.from, flags.to].map((text) => locate(text, config)) as [
        FileSettings,
        FileSettings,
      ]
      if (JSON.stringify(place(source)) === JSON.stringify(place(target))) {
        throw new CommandFailed('--from and --to are the same storage; name two')
      }
      const tools = { clock: systemClock, random: systemRandom, log: silentLog }
      const from = await openFileStores(source, tools)
      const to = await openFileStores(target, tools)
      try {
        const result = await copyFiles({ db: database.read, from, to, fileOf, report: makeProgress() })
        const { copied, total, bytes, missing } = result
        process.stdout.write(
          `Copied ${copied} files and pieces (${bytes} bytes); ${total - copied - missing.length} were there already or have no bytes.\n`,
        )
        if (missing.length > 0) {
          throw new CommandFailed(
            `${missing.length} files that are used are not in ${flags.from}: ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ', …' : ''}; restore them from a backup, then repeat this`,
          )
        }
      } finally {
        await from.store.close()
        await to.store.close()
      }
    },
    { onlyHere: true },
  )
}

const place = ({ filesUrl, dataDir }: FileSettings) => filesUrl ?? dataDir

function locate(text: string, config: Config): FileSettings {
  if (!text.startsWith('s3:')) return { ...config, filesUrl: undefined, ...(text !== 'disk' && { dataDir: text }) }
  const filesUrl = parseLocation(text)
  chooseSource(config, filesUrl.region)
  return { ...config, filesUrl }
}

function parseLocation(text: string): ObjectLocation {
  try {
    return parseObjectLocation(text)
  } catch (error) {
    if (error instanceof BadSetting) throw new CommandFailed(`a storage must be ${error.message}`)
    throw error
  }
}

/** A bar on a terminal; elsewhere a line now and then. */
function makeProgress(): (soFar: Copied) => void {
  let shown = -1
  return ({ done, total, bytes }) => {
    const percent = total === 0 ? 100 : Math.floor((100 * done) / total)
    if (percent === shown) return
    const isBar = process.stderr.isTTY
    if (!isBar && shown !== -1 && percent < 100 && percent < shown + lineEvery) return
    shown = percent
    const filled = Math.round((barWidth * percent) / 100)
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`
    const text = `${bar} ${String(percent).padStart(3)} %  ${done} of ${total}, ${bytes} bytes copied`
    process.stderr.write(isBar ? `\r${text}${percent === 100 ? '\n' : ''}` : `${text}\n`)
  }
}
