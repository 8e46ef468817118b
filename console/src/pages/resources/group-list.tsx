import { groupsList } from '@switchboard/client/methods'
import type { Node } from '../../data/types.ts'
import { Loaded } from '../../ui/load/loaded.tsx'
import { More, usePages } from '../../ui/load/paged.tsx'
import { Empty, To } from '../../ui/parts.tsx'
import { actFor } from './acting.ts'

/** The groups of a number. */
export function GroupList({ node }: { readonly node: Node }) {
  const list = usePages(
    `groups ${node.id}`,
    async (after) => groupsList(await actFor(node), node.id, { limit: 50, ...(after !== undefined && { after }) }),
    ({ id }) => id,
  )
  return (
    <Loaded
      of={list}
      what="the groups"
      isEmpty={(rows) => rows.length === 0}
      empty={<Empty title="The number has no group" />}
    >
      {(rows) => (
        <>
          <ul class="plain-list">
            {rows.map(({ id, subject }) => (
              <li key={id}>
                <bdi>
                  <To href={`/resources/${id}`}>{subject}</To>
                </bdi>
              </li>
            ))}
          </ul>
          <More of={list} what="groups" />
        </>
      )}
    </Loaded>
  )
}
