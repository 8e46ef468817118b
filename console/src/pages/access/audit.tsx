import { type OperatorAuditListItem, operatorAuditList } from '@switchboard/client/methods'
import { useRef } from 'preact/hooks'
import { apps, nameOf } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import { place, setQuery } from '../../router.ts'
import { beginUpper } from '../../ui/begin-upper.ts'
import { Loaded } from '../../ui/load/loaded.tsx'
import { More, usePages } from '../../ui/load/paged.tsx'
import { Exact } from '../../ui/moments.tsx'
import { Empty, TablePlace, To } from '../../ui/parts.tsx'
import { TimeRange, useTimeRange } from '../../ui/time-range.tsx'
import { nameKind } from '../resources/kinds.ts'
import { findActor } from './find-actor.ts'

/** By the name in the address: the parameter of the list, the label of the field, and what is written there. */
const filters = [
  ['operation', 'operation', 'Operation', 'Exact name'],
  ['actor', 'actor', 'By', 'Session, person, app, or id'],
  ['node', 'node_id', 'On', 'Id of an object'],
  ['account', 'account_id', 'Account', 'Id of an account'],
] as const

/** Who did what, when and from where. */
export function AuditLog() {
  const { query } = place.value
  const range = useTimeRange()
  const given = filters.flatMap(([name, parameter]) => {
    const value = query.get(name)?.trim()
    return value ? [[parameter, name === 'actor' ? findActor(value, apps.value) : value] as const] : []
  })
  const wanted = { ...Object.fromEntries(given), ...range }
  const list = usePages(
    `audit ${JSON.stringify(wanted)}`,
    (after) => operatorAuditList(client, { limit: 50, ...wanted, ...(after !== undefined && { after }) }),
    ({ id }) => id,
  )
  const isFiltered = Object.keys(wanted).length > 0
  const load = list.load.value
  // Those of the list without a filter stay known when there is one.
  const operations = useRef(new Set<string>()).current
  for (const { operation } of load.state === 'ready' ? load.value : []) operations.add(operation)
  const known: Readonly<Record<string, readonly string[]>> = {
    operation: [...operations].toSorted(),
    actor: apps.value.flatMap(({ name }) => name ?? []),
  }
  return (
    <section class="block" aria-label="Audit log">
      <search class="filters labelled">
        {filters.map(([name, , label, hint]) => (
          <label key={name}>
            <span>{label}</span>
            <input
              type="search"
              placeholder={hint}
              list={known[name] && `audit-${name}`}
              value={query.get(name) ?? ''}
              onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim() })}
            />
            {known[name] && (
              <datalist id={`audit-${name}`}>
                {known[name].map((one) => (
                  <option key={one} value={one} />
                ))}
              </datalist>
            )}
          </label>
        ))}
        <TimeRange />
        {isFiltered && <To href="/access?view=audit">Clear the filters</To>}
      </search>
      <Loaded
        of={list}
        what="the audit log"
        isEmpty={(rows) => rows.length === 0}
        empty={isFiltered ? <NoMatch /> : <Empty title="Nothing has been changed yet" />}
      >
        {(rows) => (
          <>
            <AuditTable rows={rows} />
            <More of={list} what="records" />
          </>
        )}
      </Loaded>
    </section>
  )
}

function NoMatch() {
  return (
    <Empty title="No record matches the filters">
      <p>
        An operation is found by its exact name, a session, a person or an app by its whole name, everything else by its
        id.
      </p>
    </Empty>
  )
}

function AuditTable({ rows }: { readonly rows: readonly OperatorAuditListItem[] }) {
  return (
    <TablePlace label="List of records">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Operation</th>
            <th scope="col">On</th>
            <th scope="col">By, from</th>
            <th scope="col">Trace</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((record) => (
            <AuditRow key={record.id} record={record} />
          ))}
        </tbody>
      </table>
    </TablePlace>
  )
}

function AuditRow({ record }: { readonly record: OperatorAuditListItem }) {
  const { time, operation, node_kind, node_id, actor_name, actor_app_id, remote_address, trace } = record
  // What is no object of a tenant, such as the clock, has no page.
  const isNode = /^\d{15,20}$/.test(node_id)
  return (
    <tr>
      <td>
        <Exact at={time} />
      </td>
      <td class="rest">
        <Filter name="operation" value={operation} />
      </td>
      <td class="cut" data-label="On">
        <bdi>
          {isNode ? <To href={`/resources/${node_id}`}>{nameOf(node_id)}</To> : <span class="mono">{node_id}</span>}
        </bdi>
        <span class="second">{beginUpper(nameKind(node_kind))}</span>
      </td>
      <td class="cut" data-label="By">
        <bdi>
          <Filter name="actor" value={actor_name ?? actor_app_id} text={actor_name ?? nameOf(actor_app_id)} />
        </bdi>
        <span class="second mono">{remote_address}</span>
      </td>
      <td class="mono" data-label="Trace">
        <To href={`/traces/${trace}`}>{trace.slice(0, 8)}</To>
      </td>
    </tr>
  )
}

interface FilterProps {
  readonly name: string
  readonly value: string
  readonly text?: string
}

/** A value of the list that leads to all like it. */
function Filter({ name, value, text = value }: FilterProps) {
  const query = new URLSearchParams(place.value.query)
  query.set(name, value)
  return (
    <To href={`/access?${query}`} title={`Only ${value}`}>
      {text}
    </To>
  )
}
