import { signal, useSignal } from '@preact/signals'
import { operatorFind } from '@switchboard/client/methods'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { pages } from '../../shared/pages.js'
import { client, isSandbox } from '../data/http.ts'
import { go } from '../router.ts'
import { Icon } from '../ui/icons.tsx'
import { type Load, loadFailure } from '../ui/load/loaded.tsx'
import { When } from '../ui/parts.tsx'
import { Portal } from '../ui/portal.tsx'
import { isSearchable, nameResult } from './kinds.ts'
import { ResultTitle } from './title.tsx'

const isOpen = signal(false)

export function openPalette(): void {
  isOpen.value = true
}

/** Where one search leads to everything: opened by a key from every page. */
export function Palette() {
  if (!isOpen.value) return null
  return (
    <Portal>
      <OpenPalette />
    </Portal>
  )
}

/** The place in the rail that says that there is a search. */
export function SearchButton() {
  return (
    <button type="button" class="search-button" onClick={openPalette} title="Search (Ctrl K)">
      <Icon name="search" />
      <span class="grow">Search</span>
      <span class="key" aria-hidden="true">
        /
      </span>
    </button>
  )
}

interface Choice {
  readonly id: string
  readonly kind: string
  readonly title: string
  readonly time?: string | null | undefined
  readonly link: string
}

const shownResults = 12
/** While somebody writes, only the last of the letters is asked for. */
const pauseMs = 150

/** The pages whose names begin with what was written. */
function findPages(text: string): Choice[] {
  const wanted = text.trim().toLowerCase()
  return pages
    .filter(({ first, name }) => (first !== 'sandbox' || isSandbox) && name.toLowerCase().startsWith(wanted))
    .map(({ first, name }) => ({ id: `page-${first}`, kind: 'page', title: name, link: `/${first}` }))
}

/** What was found, and the text that it was found for: what was found before stays until there is more to show. */
function useResults(text: string) {
  const found = useSignal<Load<readonly Choice[]> | undefined>(undefined)
  const foundFor = useSignal('')
  useEffect(() => {
    const q = text.trim()
    if (!isSearchable(q)) {
      found.value = undefined
      foundFor.value = q
      return undefined
    }
    const ending = new AbortController()
    const timer = setTimeout(async () => {
      if (found.peek()?.state !== 'ready') found.value = { state: 'loading' }
      try {
        const { data } = await operatorFind(client, { q, limit: shownResults }, { signal: ending.signal })
        found.value = { state: 'ready', value: data }
        foundFor.value = q
      } catch (error) {
        if (ending.signal.aborted) return
        found.value = loadFailure(error)
        foundFor.value = q
      }
    }, pauseMs)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [text, found, foundFor])
  return { found: found.value, isCurrent: foundFor.value === text.trim() }
}

function OpenPalette() {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  const text = useSignal('')
  const marked = useSignal(0)
  /** Enter was pressed before the results of the text were there: the first of them is opened when they are. */
  const isAwaited = useSignal(false)
  const { found, isCurrent } = useResults(text.value)
  // Before the next key, which belongs to the field already.
  useLayoutEffect(() => element.current?.showModal(), [])
  const results = found?.state === 'ready' ? found.value : []
  const q = text.value.trim()
  const all: Choice[] = !isSearchable(q)
    ? []
    : [{ id: 'all', kind: 'search', title: `All results for “${q}”`, link: `/search?q=${encodeURIComponent(q)}` }]
  const choices = [...results, ...findPages(text.value), ...all]
  const at = Math.min(marked.value, choices.length - 1)
  const open = (choice: Choice | undefined) => {
    if (!choice) return
    element.current?.close()
    go(choice.link)
  }
  useEffect(() => {
    if (isAwaited.value && isCurrent) open(choices[0])
  })
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      marked.value = (at + step + choices.length) % Math.max(1, choices.length)
    }
    if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault()
      if (isCurrent || marked.value > 0) open(choices[at])
      else isAwaited.value = true
    }
  }
  return (
    <dialog
      ref={element}
      class="palette"
      aria-label="Search"
      {...{ closedby: 'any' }}
      onClose={() => {
        isOpen.value = false
      }}
    >
      <label class="palette-field">
        <Icon name="search" />
        <span class="unseen">Search</span>
        <input
          type="search"
          dir="auto"
          {...combobox(`${id}-list`, choices[at] && `${id}-${at}`)}
          autocomplete="off"
          spellcheck={false}
          placeholder="A message’s id or text, a number, a trace, a webhook, a name…"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value
            marked.value = 0
            isAwaited.value = false
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <p class="palette-state" role="status">
        {sayState(q, found)}
      </p>
      <div class="palette-list" role="listbox" id={`${id}-list`} aria-label="Results">
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above.
          <div
            key={`${choice.kind} ${choice.id}`}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            class="palette-choice"
            onClick={() => open(choice)}
          >
            <span class="palette-kind">{nameResult(choice.kind)}</span>
            <span class="grow one-line" dir="auto">
              <ResultTitle kind={choice.kind} title={choice.title} />
            </span>
            {choice.time && <When at={choice.time} />}
          </div>
        ))}
      </div>
    </dialog>
  )
}

/** What a field is that chooses from the list below it. */
function combobox(list: string, active: string | undefined): object {
  return {
    role: 'combobox',
    'aria-expanded': true,
    'aria-controls': list,
    ...(active !== undefined && { 'aria-activedescendant': active }),
  }
}

function sayState(q: string, found: Load<readonly Choice[]> | undefined): string {
  if (q !== '' && !isSearchable(q)) return 'Type a letter or a digit: search finds whole words, ids and whole numbers.'
  if (found === undefined) return ''
  if (found.state === 'loading') return 'Searching…'
  if (found.state === 'failed') return `Could not search: ${found.problem}`
  if (found.value.length === 0) return 'Nothing found. Search finds whole words, ids and whole numbers.'
  return ''
}
