import { useSignal } from '@preact/signals'
import { operatorDeliveriesReplay } from '@switchboard/client/methods'
import { client, explain } from '../../data/http.ts'
import { confirmAction, Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/parts.tsx'
import { attempt, say } from '../../ui/toast.tsx'
import { nameByLabel, writeQueued } from './replay-sentences.ts'

/** From so many on, sending them again is asked about. */
const many = 10

/** Sends the selected webhooks again; asks first when they are many. */
export async function replayChosen(ids: readonly string[]): Promise<boolean> {
  const isSure =
    ids.length < many ||
    (await confirmAction({
      title: `Send ${ids.length} webhooks again?`,
      text: 'Each goes to the callback that its app has now. A subscriber that took one before gets it twice.',
      action: 'Send again',
    }))
  return isSure && attempt(async () => say(writeQueued(await operatorDeliveriesReplay(client, { ids: [...ids] }))))
}

interface ReplayDialogProps {
  /** Only those of this app; left out: of all. */
  readonly app?: { readonly id: string; readonly name: string }
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Which webhooks are sent again, and where to. */
export function ReplayDialog({ app, onDone, onClose }: ReplayDialogProps) {
  const problem = useSignal<string | undefined>(undefined)
  const submit = async (form: HTMLFormElement) => {
    const given = new FormData(form)
    const to = String(given.get('to'))
    problem.value = undefined
    try {
      const answer = await operatorDeliveriesReplay(client, {
        state: given.get('state') as 'failed' | 'delivered',
        since: String(given.get('since')),
        ...(app && { app_id: app.id }),
        ...(to !== '' && { to }),
      })
      if (answer.replayed === 0 && !answer.job) {
        problem.value = writeQueued(answer)
        return
      }
      say(writeQueued(answer))
      onDone()
      onClose()
    } catch (error) {
      problem.value = nameByLabel(explain(error))
    }
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
          hint="Webhooks that wait need no replay: they are sent as soon as their subscriber takes them. Where they wait at a former address, the subscriber’s card sends them to the app’s callback."
        >
          <select name="state">
            <option value="failed">All failed webhooks</option>
            <option value="delivered">All delivered webhooks</option>
          </select>
        </Field>
        <Field label="Since" hint="How long ago they were created, such as 10m, 24h or 7d.">
          <input name="since" required value="30d" />
        </Field>
        <Field label="To another address" hint="Empty: the callback that the app has now.">
          <input name="to" type="url" placeholder="http://127.0.0.1:3000/hook" />
        </Field>
        <button type="submit" class="main">
          Send again
        </button>
        {problem.value !== undefined && (
          <p class="bad" role="alert">
            {problem.value}
          </p>
        )}
      </form>
    </Dialog>
  )
}
