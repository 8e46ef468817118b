import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { writeSize } from '../sizes.ts'
import './view.css'
import { useReachable } from '../hooks.ts'
import { CopyButton, IconButton } from '../parts.tsx'
import { Row } from './row.tsx'
import {
  beginsOpen,
  copyOf,
  findInJson,
  idOf,
  idsAround,
  isTurning,
  type JsonPath,
  type JsonRow,
  listRows,
  moveIn,
  readJson,
  valueAt,
  writePath,
} from './tree.ts'

const rowsAtOnce = 400
const mostFound = 1000
/** A longer text stays cut: it can be copied. */
const mostLength = 20_000

interface BodyViewProps {
  readonly label: string
  /** A body as it was sent. */
  readonly text: string | null | undefined
  /** What stands there when there is none. */
  readonly none?: string
}

/** A body: as a tree when it is JSON, and as text otherwise. */
export function BodyView({ label, text, none = 'No body' }: BodyViewProps) {
  const json = useMemo(() => (text ? readJson(text) : undefined), [text])
  if (json) return <JsonView label={label} value={json.value} size={text?.length ?? 0} />
  return <TextView label={label} text={text || none} />
}

/** A text as it stands, which may be very long. */
export function TextView({ label, text }: { readonly label: string; readonly text: string }) {
  const box = useRef<HTMLPreElement>(null)
  useReachable(box)
  const left = text.length - mostLength
  return (
    <figure class="code">
      <figcaption>
        <span>{label}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre ref={box}>
        <code>{text.slice(0, mostLength)}</code>
        {left > 0 && <p class="soft">{`… ${left.toLocaleString()} more characters; copy it to see all.`}</p>}
      </pre>
    </figure>
  )
}

interface JsonViewProps {
  readonly label: string
  readonly value: unknown
  /** How many bytes it has on the wire. */
  readonly size?: number
}

/** A JSON value as a tree that folds, with a search, and the path and value of any part to copy. */
export function JsonView({ label, value, size }: JsonViewProps) {
  const open = useMemo(() => beginsOpen(value), [value])
  const turned = useSignal<ReadonlySet<string>>(new Set())
  const limit = useSignal(rowsAtOnce)
  /** How many lines above are left out: what is found far below does not draw everything before it. */
  const start = useSignal(0)
  const chosen = useSignal<JsonPath>([])
  const wanted = useSignal<string | undefined>(undefined)
  const at = useSignal(0)
  const box = useRef<HTMLDivElement>(null)
  const isOpen = (id: string, depth: number, count: number) => open(depth, count) !== turned.value.has(id)
  const { rows: listed, isCut } = listRows(value, isOpen, start.value + limit.value)
  // Where so much was folded that nothing is left behind those lines, all of it is shown.
  const rows = listed.length > start.value ? listed.slice(start.value) : listed
  const text = wanted.value ?? ''
  const found = useMemo(() => findInJson(value, text, mostFound), [value, text])
  const current = found[at.value]
  const turn = (row: JsonRow) => {
    const next = new Set(turned.value)
    if (!next.delete(row.id)) next.add(row.id)
    turned.value = next
  }
  const choose = (path: JsonPath) => {
    chosen.value = path
    focusRow(box.current, path)
  }
  const show = (index: number) => {
    const path = found[(index + found.length) % found.length]
    if (!path) return
    at.value = (index + found.length) % found.length
    turned.value = openAround(value, path, turned.value, open)
    const line = listRows(value, isOpen, Number.POSITIVE_INFINITY).rows.findIndex(({ id }) => id === idOf(path))
    if (line < start.value || line >= start.value + limit.value) start.value = Math.max(0, line - rowsAtOnce / 2)
    chosen.value = path
  }
  useEffect(() => {
    if (current) rowOf(box.current, current)?.scrollIntoView({ block: 'nearest' })
  }, [current])
  const onClick = ({ target }: MouseEvent) => {
    const id = (target as Element).closest<HTMLElement>('[role=treeitem]')?.dataset['path']
    const row = rows.find((one) => one.id === id)
    if (!row || (target as Element).closest('button')) return
    choose(row.path)
    if (row.size > 0) turn(row)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const index = rows.findIndex(({ id }) => id === idOf(chosen.value))
    const row = rows[index]
    const next = moveIn(rows, index, event.key)
    if (next) choose(next.path)
    else if (row && row.size > 0 && isTurning(event.key, row.isOpen)) turn(row)
    else return
    event.preventDefault()
  }
  return (
    <figure class="code json">
      <figcaption>
        <span class="grow">
          {label}
          {size !== undefined && size > 2000 && <span class="soft">{` · ${writeSize(size)}`}</span>}
        </span>
        <IconButton
          icon="search"
          label={`Find in ${label}`}
          pressed={wanted.value !== undefined}
          onClick={() => {
            wanted.value = wanted.value === undefined ? '' : undefined
          }}
        />
        <CopyButton text={copyOf(value)} />
      </figcaption>
      {wanted.value !== undefined && (
        <div class="json-find">
          <input
            type="search"
            aria-label={`Find in ${label}`}
            placeholder="Find a name or value"
            value={text}
            ref={focusOnce}
            onInput={(event) => {
              wanted.value = event.currentTarget.value
              at.value = -1
            }}
            onKeyDown={(event) => {
              if (event.key === 'Enter') show(at.value + (event.shiftKey ? -1 : 1))
              if (event.key === 'Escape') wanted.value = undefined
              else return
              event.stopPropagation()
            }}
          />
          <span class="soft" role="status">
            {text === '' ? '' : writeFound(at.value, found.length)}
          </span>
          <button type="button" class="small" disabled={found.length === 0} onClick={() => show(at.value - 1)}>
            Previous
          </button>
          <button type="button" class="small" disabled={found.length === 0} onClick={() => show(at.value + 1)}>
            Next
          </button>
        </div>
      )}
      {start.value > 0 && (
        <button
          type="button"
          class="small json-more"
          onClick={() => {
            limit.value += Math.min(start.value, rowsAtOnce)
            start.value = Math.max(0, start.value - rowsAtOnce)
          }}
        >
          Show earlier lines
        </button>
      )}
      <div class="json-rows" role="tree" aria-label={label} ref={box} onKeyDown={onKeyDown} onClick={onClick}>
        {rows.map((row) => (
          <Row
            key={row.id}
            row={row}
            isChosen={row.id === idOf(chosen.value)}
            isFound={current !== undefined && row.id === idOf(current)}
          />
        ))}
      </div>
      {isCut && (
        <button
          type="button"
          class="small json-more"
          onClick={() => {
            limit.value += rowsAtOnce
          }}
        >
          Show more lines
        </button>
      )}
      {chosen.value.length > 0 && <Chosen value={value} path={chosen.value} />}
    </figure>
  )
}

function Chosen({ value, path }: { readonly value: unknown; readonly path: JsonPath }) {
  const written = writePath(path)
  return (
    <div class="json-chosen">
      <code class="grow cut" title={written}>
        {written}
      </code>
      <CopyButton text={written} label="Copy path" />
      <CopyButton text={copyOf(valueAt(value, path))} label="Copy value" />
    </div>
  )
}

function writeFound(at: number, count: number): string {
  const all = count >= mostFound ? `${mostFound} or more` : String(count)
  if (count === 0) return 'Not found'
  return at < 0 ? `${all} found` : `${at + 1} of ${all}`
}

function focusOnce(element: HTMLInputElement | null): void {
  if (element && element.value === '') element.focus()
}

function rowOf(box: HTMLElement | null, path: JsonPath): HTMLElement | undefined {
  const id = idOf(path)
  return [...(box?.children ?? [])].find((one) => (one as HTMLElement).dataset['path'] === id) as
    | HTMLElement
    | undefined
}

function focusRow(box: HTMLElement | null, path: JsonPath): void {
  const row = rowOf(box, path)
  row?.focus({ preventScroll: true })
  row?.scrollIntoView({ block: 'nearest' })
}

/** What has been turned when everything around a place is open. */
function openAround(
  value: unknown,
  path: JsonPath,
  turned: ReadonlySet<string>,
  open: (depth: number, size: number) => boolean,
): ReadonlySet<string> {
  const next = new Set(turned)
  for (const [depth, id] of idsAround(path).entries()) {
    const size = Object.keys(valueAt(value, path.slice(0, depth)) as object).length
    if (open(depth, size)) next.delete(id)
    else next.add(id)
  }
  return next
}
