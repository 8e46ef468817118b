import { useLayoutEffect, useRef } from 'preact/hooks'
import { startReference } from '../../shared/docs.js'
import { base } from '../data/http.ts'
import { Loaded, useLoaded } from '../ui/load/loaded.tsx'

/** The reference as the server wrote it: kept with what was typed into it while one is on other pages. */
let reference: HTMLElement | undefined

/** Takes the reference out of a page of the server. */
export function takeReference(page: Document): HTMLElement | undefined {
  const found = page.querySelector<HTMLElement>('.reference')
  if (found) reference = document.adoptNode(found)
  return reference
}

async function readReference(): Promise<HTMLElement> {
  const response = await fetch(`${base}/docs`)
  const found = response.ok
    ? takeReference(new DOMParser().parseFromString(await response.text(), 'text/html'))
    : undefined
  if (!found) throw new Error(`The service responded with ${response.status} and without the reference.`)
  return found
}

/** Every operation, to be read and tried: the page of the server in the frame of the console. */
export function DocsPage() {
  return reference ? <Reference element={reference} /> : <ReadReference />
}

function ReadReference() {
  const read = useLoaded('docs', readReference)
  return (
    <Loaded of={read} what="the reference">
      {(found) => <Reference element={found} />}
    </Loaded>
  )
}

function Reference({ element }: { readonly element: HTMLElement }) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!place.current) return
    const ending = new AbortController()
    place.current.append(element)
    startReference(element, ending.signal)
    document.title = 'Switchboard API reference'
    return () => ending.abort()
  }, [element])
  return <div ref={place} />
}
