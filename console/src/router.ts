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
export const segments = computed(() => path.value.split('/').slice(1).map(decodeURIComponent))

addEventListener('popstate', () => {
  place.value = readPlace()
})

export function go(to: string): void {
  history.pushState(null, '', base + to)
  place.value = readPlace()
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
  history.replaceState(null, '', `${location.pathname}${text === '' ? '' : `?${text}`}`)
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
