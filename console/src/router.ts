import { computed, signal } from '@preact/signals'
import { base } from './data/http.ts'

/** Where one is, below the path of the service. */
export const place = signal(readPlace())

function readPlace(): { readonly path: string; readonly query: URLSearchParams } {
  const { pathname, search } = location
  const path = pathname.startsWith(base) ? pathname.slice(base.length) : pathname
  return { path: path === '' ? '/' : path, query: new URLSearchParams(search) }
}

const path = computed(() => place.value.path)
/** `/deliveries/17` → `deliveries`, `17` */
export const segments = computed(() => path.value.split('/').slice(1).map(decodeSegment))

/** A wrong address is shown as one, and does not stop the console. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

interface Entry {
  /** Names a step of the history: what a page keeps for it is found when one comes back. */
  readonly key: string
}

/** The key of the step of the history that is shown. */
export function entryKey(): string {
  const known = (history.state as Entry | null)?.key
  if (known !== undefined) return known
  const key = Math.random().toString(36).slice(2)
  history.replaceState({ key } satisfies Entry, '')
  return key
}

/** Whether the page has changed and its heading has not been announced yet. */
let isHeadingDue = false

/** Whether the heading that is drawn now is that of a page that somebody went to: once for each. */
export function takeHeading(): boolean {
  const wasDue = isHeadingDue
  isHeadingDue = false
  return wasDue
}

const leaving = new Set<() => void>()

/** Calls back while the page that one leaves is still drawn. */
export function onLeave(callback: () => void): () => void {
  leaving.add(callback)
  return () => leaving.delete(callback)
}

addEventListener('popstate', () => {
  for (const callback of leaving) callback()
  const before = place.value.path
  place.value = readPlace()
  isHeadingDue = place.value.path !== before
})

export function go(to: string): void {
  for (const callback of leaving) callback()
  const before = place.value.path
  history.pushState({ key: Math.random().toString(36).slice(2) } satisfies Entry, '', base + to)
  place.value = readPlace()
  isHeadingDue = place.value.path !== before
  document.getElementById('main')?.scrollTo(0, 0)
}

/** Changes what the address says without leaving a step behind. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const query = new URLSearchParams(place.value.query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  history.replaceState(history.state, '', `${location.pathname}${text === '' ? '' : `?${text}`}`)
  place.value = readPlace()
}

/** Links within the console change the page and do not load it anew. */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
  const link = (event.target as Element).closest?.('a[data-in]')
  const href = link?.getAttribute('href')
  if (href === null || href === undefined) return
  event.preventDefault()
  go(href.slice(base.length))
})
