import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { place } from '../router.ts'

interface FiltersProps {
  /** What is shown at every width. */
  readonly first: ComponentChildren
  readonly children: ComponentChildren
}

/** The filters of a list; on a narrow screen all but the first are behind a button. */
export function Filters({ first, children }: FiltersProps) {
  const isOpen = useSignal(false)
  const { size } = place.value.query
  return (
    <search class={`filters ${isOpen.value ? 'open' : ''}`}>
      {first}
      <button
        type="button"
        class="unfold"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      >
        {size > 0 ? `Filters (${size})` : 'Filters'}
      </button>
      <div class="rest">{children}</div>
    </search>
  )
}
