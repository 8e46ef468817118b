import { operatorLanesList, sandboxReset } from '@switchboard/client/methods'
import { changeSession, client } from '../../data/http.ts'
import { confirmAction } from '../../ui/dialog.tsx'
import { attempt } from '../../ui/toast.tsx'

/** Where webhooks go now: what a reset disconnects. */
async function listCallbacks(): Promise<string[]> {
  const { data } = await operatorLanesList(client, { limit: 20 })
  return [...new Set(data.filter(({ subscribed }) => subscribed).map(({ callback_url }) => callback_url))]
}

export function ResetCard({ beginAnew }: { readonly beginAnew: () => Promise<void> }) {
  const reset = async () => {
    const callbacks = await listCallbacks().catch(() => [])
    const isAgreed = await confirmAction({
      title: 'Reset the sandbox?',
      text: <Consequences callbacks={callbacks} />,
      action: 'Reset',
      isDangerous: true,
    })
    if (!isAgreed) return
    await attempt(async () => {
      await changeSession((changing) => sandboxReset(changing, {}))
      await beginAnew()
    }, 'The store is reset.')
  }
  return (
    <section class="card">
      <h2>Reset</h2>
      <p>
        Empties the store, media files included, and applies the world file of the start. The clock shows the real time
        again, and faults are removed. Snapshots are kept.
      </p>
      <button type="button" class="danger" onClick={() => void reset()}>
        Reset…
      </button>
    </section>
  )
}

function Consequences({ callbacks }: { readonly callbacks: readonly string[] }) {
  return (
    <>
      <p>Messages, calls, media files, tokens and subscriptions are deleted. That cannot be undone.</p>
      {callbacks.length > 0 && (
        <>
          <p>These receivers get no more webhooks, unless the world file of the start subscribes them:</p>
          <ul class="plain-list">
            {callbacks.map((url) => (
              <li key={url}>{url}</li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
