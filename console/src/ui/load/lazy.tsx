import type { FunctionComponent } from 'preact'
import { Loaded, useLoaded } from './loaded.tsx'

/** A page whose script is loaded when somebody goes to it. */
export interface LazyPage<P> {
  readonly Page: FunctionComponent<P>
  /** Begins to load it, so that it is there when it is drawn. */
  readonly load: () => Promise<unknown>
}

export function makeLazy<P extends object>(importPage: () => Promise<FunctionComponent<P>>): LazyPage<P> {
  let loaded: FunctionComponent<P> | undefined
  let loading: Promise<FunctionComponent<P>> | undefined
  const load = () => {
    loading ??= importPage().then(
      (page) => {
        loaded = page
        return page
      },
      (error) => {
        loading = undefined
        throw error
      },
    )
    return loading
  }
  function Loading(props: P) {
    const read = useLoaded('page', load)
    // A browser may remember that a script could not be loaded, and a new version of the console has others: the whole page is loaded.
    const of = { load: read.load, reload: async () => location.reload() }
    return (
      <Loaded of={of} what="the page">
        {(Page) => <Page {...props} />}
      </Loaded>
    )
  }
  const Page: FunctionComponent<P> = (props) => {
    const Known = loaded
    return Known ? <Known {...props} /> : <Loading {...props} />
  }
  return { Page, load }
}
