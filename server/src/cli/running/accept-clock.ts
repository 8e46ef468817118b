import { systemClock } from '../../base/time/clock.ts'
import { formatDuration, hour } from '../../base/time/duration.ts'
import { acceptTime, readDatabaseTime } from '../../timers/store-clock.ts'
import { withLockedStore } from '../store.ts'
import { writeTime } from '../table.ts'

/** Accepts that time has gone forward by days: what is old may be deleted and given up again. May run while servers do. */
export async function acceptClock(flags: { data?: string }): Promise<void> {
  await withLockedStore({ DATA_DIR: flags.data }, async (database) => {
    const time = await readDatabaseTime(database, systemClock)
    const trusted = await acceptTime(database, time)
    const jump = trusted === undefined ? 0 : Math.max(0, Math.round((time - trusted) / hour)) * hour
    const since = trusted === undefined || jump === 0 ? '' : `, ${formatDuration(jump)} after it was last known`
    process.stdout.write(
      `Accepted that it is ${writeTime(time)}${since}: servers delete and give up what is old within a minute.\n`,
    )
  })
}
