import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { entryKey, onLeave, place } from '../router.ts'

/** How far lists were scrolled, by step of the history: kept over a reload too. */
const storage = 'switchboard-scroll'
const mostKept = 50
/** How long a list may take to grow to its old length, from a slow service too: whoever moves it before that ends the wait. */
const patienceMs = 30_000

type Places = Readonly<Record<string, number>>

function readPlaces(): Places {
  try {
    return JSON.parse(sessionStorage.getItem(storage) ?? '{}') as Places
  } catch {
    // What somebody else wrote there is not ours.
    return {}
  }
}

function keep(name: string, top: number): void {
  const { [name]: _, ...others } = readPlaces()
  const entries = [...Object.entries(others), [name, top] as const].slice(-mostKept)
  sessionStorage.setItem(storage, JSON.stringify(Object.fromEntries(entries)))
}

const ownMoves = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

/** Brings what scrolls back to where it was when one comes back to its step of the history, as soon as it is long enough. */
export function useKeptScroll(box: RefObject<HTMLElement | null>, list = 'main'): void {
  // Also where only the query of the page changes. Typing into a filter leaves no step behind, and so changes no key.
  const key = place.value && entryKey()
  // In the layout phase, so that what was kept is written before the next page has scrolled the same element.
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return undefined
    const name = `${key} ${list}`
    const known = readPlaces()[name]
    const wanted = known ?? 0
    // A step that nobody has been to is where its link leads, which may be a place within the page.
    let last = known ?? element.scrollTop
    let isRestoring = known !== undefined
    const restore = () => {
      if (!isRestoring) return
      element.scrollTop = wanted
      if (element.scrollTop >= wanted - 1) isRestoring = false
    }
    const stopRestoring = () => {
      isRestoring = false
    }
    const write = () => {
      if (last !== readPlaces()[name]) keep(name, last)
    }
    const note = () => {
      if (!isRestoring) last = element.scrollTop
    }
    // A busy page learns of a scroll only with the next frame, and a click may come before that.
    const stopNoting = onLeave(note)
    const growth = new MutationObserver(restore)
    growth.observe(element, { childList: true, subtree: true })
    const patience = setTimeout(stopRestoring, patienceMs)
    element.addEventListener('scroll', note, { passive: true })
    addEventListener('pagehide', write)
    for (const event of ownMoves) element.addEventListener(event, stopRestoring, { passive: true })
    restore()
    return () => {
      write()
      clearTimeout(patience)
      growth.disconnect()
      stopNoting()
      element.removeEventListener('scroll', note)
      removeEventListener('pagehide', write)
      for (const event of ownMoves) element.removeEventListener(event, stopRestoring)
    }
  }, [key, list, box])
}
