import { numbers } from '../../data/directory.ts'
import { go, place, setQuery } from '../../router.ts'
import { Filters } from '../../ui/filters.tsx'
import { TimeRange } from '../../ui/time-range.tsx'
import { nameType } from './describe.ts'
import type { LiveFilter } from './filter.ts'

const types = ['request', 'event', 'delivery', 'try', 'phone', 'timer', 'replay', 'audit'] as const

interface LiveFiltersProps {
  readonly filter: LiveFilter
  readonly isGrouped: boolean
}

/** What is shown; the address keeps it. */
export function LiveFilters({ filter, isGrouped }: LiveFiltersProps) {
  const { text, type, number, showsOwn, isErrorsOnly } = filter
  return (
    <Filters
      first={
        <input
          type="search"
          data-search=""
          aria-label="Filter by text"
          placeholder="Text, message id, trace, user…"
          value={text}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
      }
    >
      <select aria-label="Type" value={type} onChange={(event) => setQuery({ type: event.currentTarget.value })}>
        <option value="">All types</option>
        {types.map((one) => (
          <option key={one} value={one}>
            {nameType(one)}
          </option>
        ))}
      </select>
      <select aria-label="Number" value={number} onChange={(event) => setQuery({ number: event.currentTarget.value })}>
        <option value="">All numbers</option>
        {numbers.value.map(({ id, display_phone_number }) => (
          <option key={id} value={id}>
            {display_phone_number}
          </option>
        ))}
      </select>
      <TimeRange />
      <Check name="errors" label="Errors only" isChecked={isErrorsOnly} />
      <Check name="group" label="Group by trace" isChecked={isGrouped} />
      <Check name="own" label="The console's own requests" isChecked={showsOwn} />
      {place.value.query.size > 0 && (
        <button type="button" class="small" onClick={() => go('/live')}>
          Clear
        </button>
      )}
    </Filters>
  )
}

interface CheckProps {
  /** Its name in the address. */
  readonly name: string
  readonly label: string
  readonly isChecked: boolean
}

function Check({ name, label, isChecked }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => setQuery({ [name]: event.currentTarget.checked ? '1' : undefined })}
      />
      {label}
    </label>
  )
}
