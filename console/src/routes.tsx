import type { ComponentChildren } from 'preact'
import { DocsPage } from './pages/docs.tsx'
import { segments } from './router.ts'
import { type LazyPage, makeLazy } from './ui/load/lazy.tsx'

const phones = makeLazy(async () => (await import('./pages/phone/page.tsx')).PhonePage)
const live = makeLazy(async () => (await import('./pages/live/page.tsx')).LivePage)
const trace = makeLazy(async () => (await import('./pages/trace/page.tsx')).TracePage)
const deliveries = makeLazy(async () => (await import('./pages/deliveries/page.tsx')).DeliveriesPage)
const delivery = makeLazy(async () => (await import('./pages/deliveries/delivery.tsx')).DeliveryPage)
const connect = makeLazy(async () => (await import('./pages/connect/page.tsx')).ConnectPage)
const calls = makeLazy(async () => (await import('./pages/calls/list.tsx')).CallsPage)
const call = makeLazy(async () => (await import('./pages/calls/page.tsx')).CallPage)
const resources = makeLazy(async () => (await import('./pages/resources/list.tsx')).ResourcesPage)
const resource = makeLazy(async () => (await import('./pages/resources/page.tsx')).ResourcePage)
const search = makeLazy(async () => (await import('./pages/search.tsx')).SearchPage)
const sandbox = makeLazy(async () => (await import('./pages/sandbox/page.tsx')).SandboxPage)
const access = makeLazy(async () => (await import('./pages/access/page.tsx')).AccessPage)

/** The page of an address that shows a list, by its first segment. */
const lists: Readonly<Record<string, LazyPage<object>>> = {
  '': phones,
  live,
  deliveries,
  connect,
  calls,
  resources,
  search,
  sandbox,
  access,
}

/** The same for an address that names one thing. */
const ones: Readonly<Record<string, LazyPage<{ readonly id: string }>>> = {
  deliveries: delivery,
  calls: call,
  resources: resource,
}

/** Begins to load the page that the address names; what stands in the way is shown where the page is drawn. */
export function loadRoute(): void {
  const [first = '', id] = segments.peek()
  const page = first === 'traces' ? trace : id ? ones[first] : lists[first]
  page?.load().catch(() => undefined)
}

/** The page that the address names; undefined: there is none. */
export function findRoute(): ComponentChildren | undefined {
  const [first = '', id, ...more] = segments.value
  if (more.length > 0) return undefined
  if (first === 'docs') return <DocsPage />
  if (first === 'traces') return <trace.Page key={id} trace={id ?? ''} />
  if (id) {
    const One = ones[first]?.Page
    return One && <One key={`${first} ${id}`} id={id} />
  }
  const List = lists[first]?.Page
  return List && <List key={first} />
}
