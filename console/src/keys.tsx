import { signal } from '@preact/signals'
import { focusSearch } from '../shared/search-key.js'
import { go, segments } from './router.ts'
import { openPalette } from './search/palette.tsx'
import { Dialog } from './ui/dialog.tsx'

const helpIsOpen = signal(false)

/** After g, where a letter leads. */
const places = {
  p: ['/', 'Phones'],
  l: ['/live', 'Live'],
  d: ['/deliveries', 'Deliveries'],
  c: ['/connect', 'Connect your app'],
  a: ['/calls', 'Calls'],
  r: ['/resources', 'Resources'],
  s: ['/sandbox', 'Sandbox'],
  x: ['/access', 'Access'],
  o: ['/docs', 'Docs'],
} as const

let waitsForPlace = false

/** Keys that work everywhere but where somebody writes. */
export function listenToKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement
    if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !target.closest('dialog')) {
      event.preventDefault()
      openPalette()
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, select, dialog')) return
    if (waitsForPlace) {
      waitsForPlace = false
      const place = places[event.key as keyof typeof places]
      if (place) {
        event.preventDefault()
        go(place[0])
        return
      }
    }
    if (event.key === '?') helpIsOpen.value = true
    else if (event.key === 'g') waitsForPlace = true
    // The reference has a search of its own, with and without the console.
    else if (segments.value[0] === 'docs') focusSearch(event)
    else if (event.key === '/') {
      event.preventDefault()
      openPalette()
    }
  }
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}

export function openHelp(): void {
  helpIsOpen.value = true
}

export function KeysHelp() {
  if (!helpIsOpen.value) return null
  return (
    <Dialog
      title="Keys"
      onClose={() => {
        helpIsOpen.value = false
      }}
    >
      <dl class="keys">
        {Object.entries(places).map(([key, [, name]]) => (
          <div key={key}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>/</kbd> <kbd>Ctrl</kbd> <kbd>K</kbd>
          </dt>
          <dd>Search everything; on Docs, / finds an operation</dd>
        </div>
        <div>
          <dt>
            <kbd>↑</kbd> <kbd>↓</kbd> <kbd>Enter</kbd>
          </dt>
          <dd>Move in a list, and open the selected row</dd>
        </div>
        <div>
          <dt>
            <kbd>Esc</kbd>
          </dt>
          <dd>Close a dialog, or leave a chat</dd>
        </div>
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>This list</dd>
        </div>
      </dl>
    </Dialog>
  )
}
