import { apps, numbers } from '../../data/directory.ts'
import { fieldWords } from '../../data/webhook-fields.ts'
import { go, place, setQuery } from '../../router.ts'
import { Filters } from '../../ui/filters.tsx'
import { TimeRange } from '../../ui/time-range.tsx'
import { type DeliveryFilter, findAddress, states } from './filter.ts'

const fields = Object.keys(fieldWords)

interface Option {
  readonly value: string
  readonly name: string
}

/** Which webhooks are listed; the address keeps it. */
export function DeliveryFilters({ filter }: { readonly filter: DeliveryFilter }) {
  const { query } = place.value
  const isFiltered = [...query.keys()].length > 0
  return (
    <Filters first={<FindById />}>
      <Choice
        label="State"
        name="state"
        all="All states"
        value={filter.state}
        options={states.map((one) => ({ value: one, name: one }))}
      />
      <Choice
        label="App"
        name="app"
        all="All apps"
        value={filter.app_id}
        options={apps.value.map(({ id, name }) => ({ value: id, name: name ?? id }))}
      />
      <Choice
        label="Number"
        name="number"
        all="All numbers"
        value={filter.phone_number_id}
        options={numbers.value.map(({ id, display_phone_number }) => ({ value: id, name: display_phone_number }))}
      />
      <Choice
        label="Field"
        name="field"
        all="All fields"
        value={filter.field}
        options={fields.map((one) => ({ value: one, name: one }))}
      />
      <input
        class="user"
        inputMode="tel"
        aria-label="User"
        placeholder="User: +1 650…"
        value={query.get('user') ?? ''}
        onChange={(event) => setQuery({ user: event.currentTarget.value.trim() })}
      />
      <TimeRange />
      {filter.trace !== undefined && (
        <button type="button" class="small" onClick={() => setQuery({ trace: undefined })}>
          {`Trace ${filter.trace.slice(0, 8)}… ×`}
        </button>
      )}
      {isFiltered && (
        <button type="button" class="small" onClick={() => go('/deliveries')}>
          Clear
        </button>
      )}
    </Filters>
  )
}

function FindById() {
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault()
        const address = findAddress(String(new FormData(event.currentTarget).get('id')))
        if (address !== undefined) go(address)
      }}
    >
      <input name="id" type="search" data-search="" aria-label="Find by id" placeholder="Find by id…" />
    </form>
  )
}

interface ChoiceProps {
  readonly label: string
  /** Its name in the address. */
  readonly name: string
  readonly all: string
  readonly value: string | undefined
  readonly options: readonly Option[]
}

function Choice({ label, name, all, value = '', options }: ChoiceProps) {
  const isKnown = value === '' || options.some((one) => one.value === value)
  return (
    <select aria-label={label} value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {!isKnown && <option value={value}>{value}</option>}
      {options.map((one) => (
        <option key={one.value} value={one.value}>
          {one.name}
        </option>
      ))}
    </select>
  )
}
