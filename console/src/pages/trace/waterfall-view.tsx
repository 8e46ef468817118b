import { useSignal } from '@preact/signals'
import { Badge } from '../../ui/parts.tsx'
import { writeSpan } from '../../ui/times.ts'
import { StepDetails } from './step-details.tsx'
import { makeAxis, type TimeAxis } from './time-axis.ts'
import type { WaterfallRow } from './waterfall.ts'

interface WaterfallProps {
  readonly rows: readonly WaterfallRow[]
  /** The row that is open at first, besides the request. */
  readonly opened: string | undefined
}

/** Rows of a trace on one axis of time; each opens to its details. */
export function Waterfall({ rows, opened }: WaterfallProps) {
  const axis = makeAxis(rows.filter(({ item }) => item?.type !== 'delivery' && item !== undefined))
  return (
    <ol class="waterfall" aria-label="Steps, each below what caused it">
      <li class="axis" aria-hidden="true">
        <span />
        <span />
        <span class="lane-of-time">
          <span>0 ms</span>
          {listApart(axis.breaks).map(({ at, milliseconds }) => (
            <span key={at} class="break" style={{ insetInlineStart: `${at * 100}%` }}>
              {`⋯ ${writeSpan(milliseconds)}`}
            </span>
          ))}
          <span class="last">{writeSpan(axis.end - axis.start)}</span>
        </span>
        <span />
        <span />
      </li>
      {rows.map((row) => (
        <Step key={row.id} row={row} axis={axis} isOpened={row.item?.type === 'request' || row.id === opened} />
      ))}
    </ol>
  )
}

/** Those with room for their names, which are in the middle of each, besides the ends of an axis of 340 px: the long ones first. */
function listApart(breaks: TimeAxis['breaks']): TimeAxis['breaks'] {
  const shown: TimeAxis['breaks'][number][] = []
  for (const one of breaks.toSorted((a, b) => b.milliseconds - a.milliseconds)) {
    const isFree = one.at > 0.22 && one.at < 0.66 && shown.every(({ at }) => Math.abs(at - one.at) > 0.24)
    if (isFree) shown.push(one)
  }
  return shown
}

interface StepProps {
  readonly row: WaterfallRow
  readonly axis: TimeAxis
  readonly isOpened: boolean
}

function Step({ row, axis, isOpened }: StepProps) {
  const { depth, name, text, result, tone, item } = row
  const isOpen = useSignal(isOpened)
  const line = (
    <>
      <span class={`name type-${item?.type ?? 'group'}`}>{name}</span>
      <span class="what cut" dir="auto" title={text}>
        {text}
      </span>
      <span class="lane-of-time">
        <Bar row={row} axis={axis} />
      </span>
      <span class="ms">{writeTimes(row, axis)}</span>
      <span class="end">
        <Badge tone={tone}>{result}</Badge>
      </span>
    </>
  )
  if (!item) return <li class={`step depth-${depth} group`}>{<div class="step-line">{line}</div>}</li>
  return (
    <li class={`step depth-${depth}`}>
      <details
        open={isOpen.value}
        onToggle={(event) => {
          isOpen.value = event.currentTarget.open
        }}
      >
        <summary class="step-line">{line}</summary>
        {isOpen.value && (
          <div class="step-body">
            <StepDetails item={item} />
          </div>
        )}
      </details>
    </li>
  )
}

/** When it began, and how long it took, on the axis. */
function Bar({ row: { start, end, tone }, axis }: { readonly row: WaterfallRow; readonly axis: TimeAxis }) {
  const left = axis.place(start) * 100
  const right = axis.place(end ?? axis.end) * 100
  const kind = end === undefined ? 'open' : end === start ? 'point' : ''
  return (
    <span
      class={`bar ${tone} ${kind}`}
      style={{ insetInlineStart: `${left}%`, inlineSize: `${Math.max(0, right - left)}%` }}
    />
  )
}

/** The same in numbers. */
function writeTimes({ start, end }: WaterfallRow, axis: TimeAxis): string {
  const began = `+${writeMs(start - axis.start)}`
  if (end === undefined) return `${began}, still waiting`
  return end > start ? `${began}, took ${writeMs(end - start)}` : began
}

function writeMs(milliseconds: number): string {
  return milliseconds < 10_000 ? `${Math.round(milliseconds).toLocaleString()} ms` : writeSpan(milliseconds)
}
