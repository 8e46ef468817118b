import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { entryKey, place } from '../router.ts'

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
  const { path } = place.value
  // In the layout phase, so that what was kept is written before the next page has scrolled the same element.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page begins at its own place.
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return undefined
    const name = `${entryKey()} ${list}`
    const wanted = readPlaces()[name] ?? 0
    let last = wanted
    let isRestoring = wanted > 0
    const restore = () => {
      if (!isRestoring) return
      element.scrollTop = wanted
      if (element.scrollTop >= wanted - 1) isRestoring = false
    }
    const stopRestoring = () => {
      isRestoring = false
    }
    const write = () => {
      if (last !== (readPlaces()[name] ?? 0)) keep(name, last)
    }
    const onScroll = () => {
      if (!isRestoring) last = element.scrollTop
    }
    const growth = new MutationObserver(restore)
    growth.observe(element, { childList: true, subtree: true })
    const patience = setTimeout(stopRestoring, patienceMs)
    element.addEventListener('scroll', onScroll, { passive: true })
    addEventListener('pagehide', write)
    for (const event of ownMoves) element.addEventListener(event, stopRestoring, { passive: true })
    restore()
    return () => {
      write()
      clearTimeout(patience)
      growth.disconnect()
      element.removeEventListener('scroll', onScroll)
      removeEventListener('pagehide', write)
      for (const event of ownMoves) element.removeEventListener(event, stopRestoring)
    }
  }, [path, list, box])
}
