import { operatorBusinessUsersList } from '@switchboard/client/methods'
import { client } from '../../data/http.ts'
import type { Node } from '../../data/types.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { More, usePages } from '../../ui/load/paged.tsx'
import { Empty, TablePlace, To, When } from '../../ui/parts.tsx'
import { Facts } from './facts.tsx'
import { useConnectionNews } from './sign-up/use-news.ts'
import { listFacts } from './words.ts'

/** The people of a business, who may connect it to apps. */
export function People({ business }: { readonly business: string }) {
  const list = usePages(
    `people ${business}`,
    (after) => operatorBusinessUsersList(client, business, { limit: 50, ...(after !== undefined && { after }) }),
    ({ id }) => id,
  )
  // Somebody new may have come with a sign-up.
  useConnectionNews(list.reload, undefined)
  return (
    <section class="block" aria-label="People">
      <h2>People</h2>
      <Loaded
        of={list}
        what="the people"
        isEmpty={(rows) => rows.length === 0}
        empty={
          <Empty title="The business has no person">
            <p>A person can connect the business to apps. People come by the sign-up dialog, or by a world file.</p>
          </Empty>
        }
      >
        {(rows) => (
          <>
            <TablePlace label="List of people">
              <table class="stacked">
                <thead>
                  <tr>
                    <th scope="col">Name</th>
                    <th scope="col">E-mail address</th>
                    <th scope="col">Created</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map(({ id, name, email, created_time }) => (
                    <tr key={id}>
                      <td class="cut first">
                        <bdi>
                          <To href={`/resources/${id}`}>{name}</To>
                        </bdi>
                      </td>
                      <td class="wrap">{email}</td>
                      <td data-label="Created">
                        <When at={created_time} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </TablePlace>
            <More of={list} what="people" one="person" />
          </>
        )}
      </Loaded>
    </section>
  )
}

/** A person of a business. */
export function PersonBody({ node: { id, business_id } }: { readonly node: Node }) {
  const person = useLoaded(id, () => operatorBusinessUsersList(client, business_id, { user_id: id }))
  return (
    <>
      <p class="links">
        <To href={`/access?view=audit&actor=${id}`}>Audit log</To>
      </p>
      <Loaded
        of={person}
        what="the person"
        isEmpty={({ data }) => data.length === 0}
        empty={<p class="soft">The person no longer exists.</p>}
      >
        {({ data: [found] }) =>
          found && (
            <section class="card">
              <h2>Facts</h2>
              <Facts of={listFacts(found, ['id', 'business_id'])} />
            </section>
          )
        }
      </Loaded>
    </>
  )
}
