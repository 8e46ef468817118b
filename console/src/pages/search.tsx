import { operatorFind } from '@switchboard/client/methods'
import { client } from '../data/http.ts'
import { place, setQuery } from '../router.ts'
import { isSearchable, nameResult, resultKinds } from '../search/kinds.ts'
import { ResultTitle } from '../search/title.tsx'
import { Loaded } from '../ui/load/loaded.tsx'
import { More, usePages } from '../ui/load/paged.tsx'
import { Empty, Head, To, When } from '../ui/parts.tsx'
import { TimeRange, useTimeRange } from '../ui/time-range.tsx'

/** Everything that is kept, by what people have in their hands. */
export function SearchPage() {
  const { query } = place.value
  const q = query.get('q')?.trim() ?? ''
  const kind = query.get('kind') ?? ''
  return (
    <div class="page page-search">
      <Head title="Search" lead="Ids, numbers, names, and the words of messages, over everything that is kept." />
      <search class="filters">
        <input
          type="search"
          data-search=""
          dir="auto"
          aria-label="Search for"
          placeholder="A message’s id or text, a number, a trace, a webhook, a name…"
          value={q}
          onChange={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <select aria-label="Kind" value={kind} onChange={(event) => setQuery({ kind: event.currentTarget.value })}>
          <option value="">All kinds</option>
          {resultKinds.map((one) => (
            <option key={one} value={one}>
              {nameResult(one)}
            </option>
          ))}
        </select>
        <TimeRange />
      </search>
      {isSearchable(q) ? (
        <Results q={q} kind={kind} />
      ) : (
        <Empty title={q === '' ? 'What are you looking for?' : 'Type a letter or a digit'}>
          <p>Search finds whole words, ids and whole numbers.</p>
        </Empty>
      )}
    </div>
  )
}

function Results({ q, kind }: { readonly q: string; readonly kind: string }) {
  const range = useTimeRange()
  const list = usePages(
    JSON.stringify([q, kind, range]),
    (after) =>
      operatorFind(client, { q, ...(kind !== '' && { kind }), ...range, ...(after !== undefined && { after }) }),
    (row) => `${row.kind} ${row.id}`,
  )
  return (
    <Loaded
      of={list}
      what="the results"
      isEmpty={(rows) => rows.length === 0}
      empty={
        <Empty title="Nothing found">
          <p>Search finds whole words, ids and whole numbers. Texts are found as long as they are kept.</p>
        </Empty>
      }
    >
      {(rows) => (
        <>
          <ul class="results" aria-label="Results">
            {rows.map((row) => (
              <li key={`${row.kind} ${row.id}`}>
                <To href={row.link}>
                  <span class="result-kind">{nameResult(row.kind)}</span>
                  <span class="result-title">
                    <ResultTitle kind={row.kind} title={row.title} />
                  </span>
                  <span class="result-id mono">{row.id}</span>
                  <When at={row.time} />
                </To>
              </li>
            ))}
          </ul>
          <More of={list} what="results" />
        </>
      )}
    </Loaded>
  )
}
