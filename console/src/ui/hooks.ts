import type { RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The same function at every drawing, which does what the newest one does. */
export function useLatest<A extends readonly unknown[], R>(work: (...args: A) => R): (...args: A) => R {
  const latest = useRef(work)
  latest.current = work
  return useCallback((...args: A) => latest.current(...args), [])
}

/** Lets the keyboard reach what scrolls, as long as there is something to scroll. */
export function useReachable(place: RefObject<HTMLElement | null>): void {
  const check = useLatest(() => {
    const { current } = place
    if (!current) return
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = current
    if (scrollWidth > clientWidth || scrollHeight > clientHeight) current.tabIndex = 0
    else current.removeAttribute('tabindex')
  })
  useLayoutEffect(check)
  useEffect(() => {
    const { current } = place
    if (!current) return undefined
    const observer = new ResizeObserver(check)
    observer.observe(current)
    return () => observer.disconnect()
  }, [check, place])
}

let ids = 0

/** An id that no other element has: Preact's own begin anew in every dialog, which is drawn apart from the page. */
export function useUniqueId(): string {
  return useState(() => `id-${++ids}`)[0]
}
