import { useSignal } from '@preact/signals'
import { Icon } from '../icons.tsx'
import type { JsonRow } from './tree.ts'

/** A longer text is cut until somebody wants it, and a very long one stays cut: it can be copied. */
const briefLength = 240
const mostLength = 20_000

interface RowProps {
  readonly row: JsonRow
  readonly isChosen: boolean
  readonly isFound: boolean
}

/** A line of a tree; the tree has its keys and clicks. */
export function Row({ row, isChosen, isFound }: RowProps) {
  const { id, depth, kind, name, text, size, isOpen, hasComma } = row
  const isWhole = useSignal(false)
  const most = isWhole.value || isFound ? mostLength : briefLength
  const left = text.length - most
  // A bracket that ends is no part of the tree, only of its look.
  const role =
    kind === 'end' ? ({ 'aria-hidden': true } as const) : ({ role: 'treeitem', tabIndex: isChosen ? 0 : -1 } as const)
  return (
    <div
      {...role}
      {...(size > 0 && { 'aria-expanded': isOpen })}
      {...(kind !== 'end' && { 'aria-level': depth + 1, 'aria-selected': isChosen })}
      data-path={id}
      class={`json-row ${isChosen ? 'chosen' : ''} ${isFound ? 'found' : ''}`}
      style={{ paddingInlineStart: `${depth * 16 + 22}px` }}
    >
      {size > 0 && (
        <span class={`json-fold ${isOpen ? 'open' : ''}`} aria-hidden="true">
          <Icon name="fold" />
        </span>
      )}
      {name !== undefined && (
        <>
          <span class="json-name">{JSON.stringify(name)}</span>
          {': '}
        </>
      )}
      <bdi class={`json-${kind}`}>{left > 0 ? text.slice(0, most) : text}</bdi>
      {left > 0 &&
        (isWhole.value ? (
          <span class="soft">{`… ${left.toLocaleString()} more characters; copy the value to see all.`}</span>
        ) : (
          <button
            type="button"
            class="small"
            tabIndex={-1}
            onClick={() => {
              isWhole.value = true
            }}
          >
            {`Show ${left.toLocaleString()} more characters`}
          </button>
        ))}
      {hasComma && (isOpen ? '' : ',')}
      {size > 0 && !isOpen && <span class="soft">{` ${size} ${writeCount(kind, size)}`}</span>}
    </div>
  )
}

function writeCount(kind: JsonRow['kind'], size: number): string {
  const word = kind === 'array' ? 'item' : 'member'
  return size === 1 ? word : `${word}s`
}
