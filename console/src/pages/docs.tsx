import { useLayoutEffect, useRef } from 'preact/hooks'
import { startReference } from '../../shared/docs.js'
import { base } from '../data/http.ts'
import { Loaded, loadedValue, useLoaded } from '../ui/loaded.tsx'

/** The reference as the server wrote it: kept with what was typed into it while one is on other pages. */
let reference: HTMLElement | undefined

/** Takes the reference out of a page of the server. */
export function takeReference(page: Document): HTMLElement | undefined {
  const found = page.querySelector<HTMLElement>('.reference')
  if (found) reference = document.adoptNode(found)
  return reference
}

async function findReference(): Promise<HTMLElement> {
  if (reference) return reference
  const response = await fetch(`${base}/docs`)
  const found = takeReference(new DOMParser().parseFromString(await response.text(), 'text/html'))
  if (!found) throw new Error('The reference could not be read. Load the page again.')
  return found
}

/** Every operation, to be read and tried: the page of the server in the frame of the console. */
export function DocsPage() {
  const place = useRef<HTMLDivElement>(null)
  const read = useLoaded('docs', findReference)
  const found = loadedValue(read) ?? reference
  useLayoutEffect(() => {
    if (!place.current || !found) return
    const ending = new AbortController()
    place.current.append(found)
    startReference(found, ending.signal)
    document.title = 'API reference · Switchboard'
    return () => ending.abort()
  }, [found])
  if (!found)
    return (
      <Loaded of={read} what="the reference">
        {() => null}
      </Loaded>
    )
  return <div ref={place} />
}
