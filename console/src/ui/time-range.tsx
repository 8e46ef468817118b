import { serviceNow } from '../data/live.ts'
import { place, setQuery } from '../router.ts'
import { readRange, spans, writeLocal } from './time-ranges.ts'

/** The range of time that the address names, as parameters of a list. */
export function useTimeRange(): { readonly since?: string; readonly until?: string } {
  const { query } = place.value
  return readRange(query.get('since'), query.get('until'), serviceNow())
}

/** Chooses a range of time; it stands in the address (`since=1h`, or two times). */
export function TimeRange() {
  const { query } = place.value
  const since = query.get('since') ?? ''
  const until = query.get('until') ?? ''
  const isOwn = since !== '' && !spans.some(([span]) => span === since)
  const value = isOwn || until !== '' ? 'own' : since
  const choose = (chosen: string) => {
    if (chosen !== 'own') setQuery({ since: chosen, until: undefined })
    else
      setQuery({ since: new Date(serviceNow() - 3_600_000).toISOString(), until: new Date(serviceNow()).toISOString() })
  }
  return (
    <>
      <select aria-label="Time" value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">All times</option>
        {spans.map(([span, name]) => (
          <option key={span} value={span}>
            {name}
          </option>
        ))}
        <option value="own">From … to …</option>
      </select>
      {value === 'own' && (
        <>
          <Moment label="From" name="since" at={since} />
          <Moment label="To" name="until" at={until} />
        </>
      )}
    </>
  )
}

function Moment({ label, name, at }: { readonly label: string; readonly name: string; readonly at: string }) {
  return (
    <input
      type="datetime-local"
      step="1"
      aria-label={label}
      value={writeLocal(at)}
      onChange={({ currentTarget: { value } }) =>
        setQuery({ [name]: value === '' ? undefined : new Date(value).toISOString() })
      }
    />
  )
}
