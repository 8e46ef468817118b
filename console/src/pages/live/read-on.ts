import { writeDayAndSeconds } from '../../ui/times.ts'

/** So many lines are looked through before somebody has to ask for more: a filter that nothing fits does not read all that is kept. */
const mostLines = 5000
/** And so many pages, because one may be empty and have others behind it. */
const mostPages = 20

/** Where looking through older lines began. */
export interface Start {
  /** The filter. */
  readonly key: string
  /** Whether the end of the list was in view. */
  readonly isAtEnd: boolean
  /** How many lines had been read. */
  readonly lines: number
  /** How many pages were read since. */
  readonly pages: number
}

/** It begins anew with another filter, and when somebody comes to the end of the list. */
export function beginAnew(before: Start, now: Omit<Start, 'pages'>): Start {
  const isNew = now.key !== before.key || (now.isAtEnd && !before.isAtEnd)
  if (isNew) return { ...now, pages: 0 }
  return { ...before, isAtEnd: now.isAtEnd, lines: Math.min(before.lines, now.lines) }
}

/** Whether the next page is read without anybody asking for it: to fill the list, but not without end. */
export function isReadOn({ isAtEnd, lines, pages }: Start, read: number): boolean {
  return isAtEnd && read - lines < mostLines && pages < mostPages
}

export interface Looked {
  /** How many lines are shown. */
  readonly shown: number
  /** The time of the oldest line that was looked at. */
  readonly back: string | undefined
  readonly hasMore: boolean
  readonly isLooking: boolean
  readonly isFiltered: boolean
  /** Whether the service keeps lines of this type. */
  readonly isRecorded: boolean
}

/** Below the list: how much it shows, and how far back that is. */
export function writeLoaded({ shown, back, hasMore, isLooking, isFiltered, isRecorded }: Looked): string {
  if (shown === 0) return ''
  const count = `${shown.toLocaleString()} ${shown === 1 ? 'line' : 'lines'}`
  if (!isRecorded) return `${count}, shown only as they happen`
  if (isFiltered && isLooking) return `${count}. ${writeLooking(back)}`
  if (!hasMore) return isFiltered || shown === 1 ? `${count}, of all that is kept` : `All ${count} that are kept`
  return back === undefined ? count : `${count} since ${writeTime(back)}`
}

export function writeLooking(back: string | undefined): string {
  return back === undefined
    ? 'Looking through older lines…'
    : `Looking through older lines, back to ${writeTime(back)}…`
}

/** What is said where no line is shown, and no older ones are looked through. */
export function writeNothing({ back, hasMore, isFiltered, isRecorded }: Looked): string {
  if (!isRecorded) return 'Lines of this type are not recorded'
  const isSince = hasMore && back !== undefined
  if (!isFiltered) {
    return isSince ? `Nothing but the console's own requests since ${writeTime(back)}` : 'Nothing has happened yet'
  }
  return isSince ? `Nothing since ${writeTime(back)} matches the filter` : 'Nothing that is kept matches the filter'
}

function writeTime(time: string): string {
  return writeDayAndSeconds(new Date(time))
}
