import { type OperatorTokensListItem, operatorTokensList, operatorTokensRevoke } from '@switchboard/client/methods'
import { client, session } from '../../data/http.ts'
import { confirmAction } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/load/loaded.tsx'
import { More, usePages } from '../../ui/load/paged.tsx'
import { Badge, Empty, TablePlace, To, When } from '../../ui/parts.tsx'
import { attempt } from '../../ui/toast.tsx'
import { nameState } from './explain-token.ts'
import { focusBeside } from './focus-beside.ts'

/** Who is or was signed in to the console. */
export function SessionList() {
  const list = usePages(
    'sessions',
    (after) => operatorTokensList(client, { limit: 200, ...(after !== undefined && { after }) }),
    ({ id }) => id,
  )
  const isSession = ({ session_name }: OperatorTokensListItem) => session_name !== undefined
  const load = list.load.value
  const shown = load.state === 'ready' ? load.value.filter(isSession).length : 0
  return (
    <section class="block" aria-label="Console sessions">
      <Loaded
        of={list}
        what="the sessions"
        isEmpty={(rows) => !rows.some(isSession)}
        empty={<Empty title="No session yet" />}
      >
        {(rows) => <SessionTable rows={rows.filter(isSession)} reload={list.reload} />}
      </Loaded>
      <More of={list} what="sessions" shown={shown} />
    </section>
  )
}

interface SessionTableProps {
  readonly rows: readonly OperatorTokensListItem[]
  readonly reload: () => Promise<void>
}

function SessionTable({ rows, reload }: SessionTableProps) {
  const end = async ({ id, session_name }: OperatorTokensListItem, button: HTMLElement) => {
    const isThis = id === session.value?.token_id
    const isAgreed = await confirmAction({
      title: 'End the session?',
      text: isThis
        ? 'This is your own session: you are signed out of the console.'
        : `“${session_name}” is signed out of the console at once.`,
      action: 'End the session',
      isDangerous: true,
    })
    if (!isAgreed) return
    await attempt(async () => {
      await operatorTokensRevoke(client, id)
      focusBeside(button)
      await reload()
    }, 'The session has ended.')
  }
  return (
    <TablePlace label="List of sessions">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">Who</th>
            <th scope="col">State</th>
            <th scope="col">Signed in</th>
            <th scope="col">Until</th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <tr key={one.id}>
              <td class="wrap first">
                <div class="name">
                  <span>
                    <bdi>{one.session_name}</bdi>
                    {one.id === session.value?.token_id && <span class="soft"> (this session)</span>}
                  </span>
                  <To href={`/access?view=audit&actor=${one.id}`}>Audit log</To>
                </div>
              </td>
              <td>
                <Badge tone={one.state === 'good' ? 'good' : 'plain'}>{nameState(one.state)}</Badge>
              </td>
              <td data-label="Signed in">
                <When at={one.created_time} />
              </td>
              <td data-label="Until">
                <When at={one.revoked_time ?? one.expires_time} />
              </td>
              <td>
                {one.state === 'good' && (
                  <button
                    type="button"
                    class="small danger"
                    onClick={({ currentTarget }) => void end(one, currentTarget)}
                  >
                    End
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  )
}
