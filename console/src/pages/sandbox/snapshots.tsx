import { useSignal } from '@preact/signals'
import {
  sandboxSnapshotsCreate,
  sandboxSnapshotsDelete,
  sandboxSnapshotsList,
  sandboxSnapshotsRestore,
} from '@switchboard/client/methods'
import { changeSession, client } from '../../data/http.ts'
import { confirmAction } from '../../ui/dialog.tsx'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { Field, When } from '../../ui/parts.tsx'
import { attempt } from '../../ui/toast.tsx'

export function Snapshots({ beginAnew }: { readonly beginAnew: () => Promise<void> }) {
  const list = useLoaded('snapshots', () => sandboxSnapshotsList(client))
  const name = useSignal('before-checkout')
  /** Whether nothing is lost, or that is wanted. Read anew: somebody else may have saved one. */
  const mayReplace = async (wanted: string) => {
    const { data } = await sandboxSnapshotsList(client)
    if (!data.some((one) => one.name === wanted)) return true
    return confirmAction({
      title: 'Replace the snapshot?',
      text: `“${wanted}” exists. What it holds is replaced by the store as it is now.`,
      action: 'Replace',
      isDangerous: true,
    })
  }
  const save = async (wanted: string) => {
    let isAgreed = false
    await attempt(async () => {
      isAgreed = await mayReplace(wanted)
    })
    if (!isAgreed) return
    await attempt(async () => {
      await sandboxSnapshotsCreate(client, { name: wanted })
      await list.reload()
    }, 'The store is saved.')
  }
  const restore = async (snapshot: string) => {
    const isAgreed = await confirmAction({
      title: 'Restore the snapshot?',
      text: `The store becomes what it was when “${snapshot}” was saved, clock and faults included. What happened since is lost.`,
      action: 'Restore',
      isDangerous: true,
    })
    if (!isAgreed) return
    await attempt(async () => {
      await changeSession((changing) => sandboxSnapshotsRestore(changing, snapshot))
      await beginAnew()
      await list.reload()
    }, 'The snapshot is restored.')
  }
  const remove = async (snapshot: string) => {
    const isAgreed = await confirmAction({
      title: 'Delete the snapshot?',
      text: `“${snapshot}” can no longer be restored.`,
      action: 'Delete',
      isDangerous: true,
    })
    if (!isAgreed) return
    await attempt(async () => {
      await sandboxSnapshotsDelete(client, snapshot)
      await list.reload()
    }, 'The snapshot is deleted.')
  }
  return (
    <section class="card">
      <h2>Snapshots</h2>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          void save(name.value)
        }}
      >
        <Field label="Name">
          <input
            required
            value={name.value}
            onInput={(event) => {
              name.value = event.currentTarget.value
            }}
          />
        </Field>
        <button type="submit" class="main">
          Save
        </button>
      </form>
      <Loaded
        of={list}
        what="the snapshots"
        isEmpty={({ data }) => data.length === 0}
        empty={<p class="soft">No snapshot yet.</p>}
      >
        {({ data }) => (
          <ul class="plain-list">
            {data.map((one) => (
              <li key={one.name} class="row snapshot">
                <b class="grow">{one.name}</b>
                <span class="tools">
                  <span class="soft">
                    <When at={one.created_time} />
                  </span>
                  <button type="button" class="small" onClick={() => void restore(one.name)}>
                    Restore
                  </button>
                  <button type="button" class="small danger" onClick={() => void remove(one.name)}>
                    Delete
                  </button>
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  )
}
