import { operatorReplayDeliveries } from '@switchboard/client/methods'
import { client } from '../../data/http.ts'
import { confirmAction, Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/parts.tsx'
import { attempt, say } from '../../ui/toast.tsx'

/** From so many on, sending them again is asked about. */
const many = 10

type Which = NonNullable<Parameters<typeof operatorReplayDeliveries>[1]>

/** Sends webhooks again, and says how many. */
function replay(which: Which): Promise<boolean> {
  return attempt(async () => {
    const { replayed, job } = await operatorReplayDeliveries(client, which)
    if (job) say(`About ${job.total.toLocaleString()} webhooks are sent again: how far it is, is shown here.`)
    else say(`${replayed} ${replayed === 1 ? 'webhook is' : 'webhooks are'} sent again.`)
  })
}

/** Sends the selected webhooks again; asks first when they are many. */
export async function replayChosen(ids: readonly string[]): Promise<boolean> {
  const isSure =
    ids.length < many ||
    (await confirmAction({
      title: `Send ${ids.length} webhooks again?`,
      text: 'Each goes to the callback that its app has now. A subscriber that took one before gets it twice.',
      action: 'Send again',
    }))
  return isSure && replay({ ids: [...ids] })
}

interface ReplayDialogProps {
  /** Only those of this app; left out: of all. */
  readonly app?: { readonly id: string; readonly name: string }
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Which webhooks are sent again, and where to. */
export function ReplayDialog({ app, onDone, onClose }: ReplayDialogProps) {
  const submit = async (form: HTMLFormElement) => {
    const given = new FormData(form)
    const to = String(given.get('to'))
    const isDone = await replay({
      state: given.get('state') as 'failed' | 'delivered',
      since: String(given.get('since')),
      ...(app && { app_id: app.id }),
      ...(to !== '' && { to }),
    })
    if (!isDone) return
    onDone()
    onClose()
  }
  return (
    <Dialog title={app ? `Send webhooks of ${app.name} again` : 'Send webhooks again'} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void submit(event.currentTarget)
        }}
      >
        <Field
          label="Which"
          hint="Webhooks that wait are sent by themselves as soon as their subscriber takes them: they need no replay."
        >
          <select name="state">
            <option value="failed">All failed webhooks</option>
            <option value="delivered">All delivered webhooks</option>
          </select>
        </Field>
        <Field label="Since" hint="How long ago they were created, such as 10m, 24h or 7d.">
          <input name="since" required value="1h" />
        </Field>
        <Field label="To another address" hint="Empty: the callback that the app has now.">
          <input name="to" type="url" placeholder="http://127.0.0.1:3000/hook" />
        </Field>
        <button type="submit" class="main">
          Send again
        </button>
      </form>
    </Dialog>
  )
}
