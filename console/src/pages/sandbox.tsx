import { useSignal } from '@preact/signals'
import {
  operatorApplyWorld,
  operatorExportWorld,
  sandboxDeleteSnapshot,
  sandboxListFaults,
  sandboxListSnapshots,
  sandboxMoveClock,
  sandboxReadClock,
  sandboxReplaceFaults,
  sandboxReset,
  sandboxRestoreSnapshot,
  sandboxSaveSnapshot,
} from '@switchboard/client/methods'
import { forgetTokens, readDirectory } from '../data/directory.ts'
import { client, renewSession } from '../data/http.ts'
import { readService } from '../data/live.ts'
import { confirmAction } from '../ui/dialog.tsx'
import { loadedValue, problemOf, useLoaded } from '../ui/loaded.tsx'
import { Badge, Code, Empty, Field, Head, PageHead, When } from '../ui/parts.tsx'
import { writeWhole } from '../ui/times.ts'
import { attempt } from '../ui/toast.tsx'

interface Clock {
  readonly now: string
  readonly offset: number
}
interface Rule {
  readonly match?: Readonly<Record<string, string>>
  readonly rate?: number
  readonly times?: number
  readonly effect: Readonly<Record<string, unknown>>
  readonly hits?: number
}

/** Time by hand, faults on purpose, and the whole store saved, brought back and begun anew. */
export function SandboxPage() {
  const clock = useLoaded('clock', () => sandboxReadClock(client))
  if (problemOf(clock) && !loadedValue(clock)) {
    return (
      <div class="page">
        <Head title="Sandbox" />
        <Empty title="This is not a sandbox">
          <p>Clock, faults and snapshots need SANDBOX=on.</p>
        </Empty>
      </div>
    )
  }
  return (
    <div class="page">
      <PageHead of="sandbox" />
      <div class="cards">
        <ClockCard clock={loadedValue(clock)} reload={clock.reload} />
        <ResetCard />
        <Snapshots />
        <Faults />
        <World />
      </div>
    </div>
  )
}

function ClockCard({ clock, reload }: { readonly clock: Clock | undefined; readonly reload: () => Promise<void> }) {
  const by = useSignal('24h')
  const move = (json: object, done: string) =>
    attempt(async () => {
      await sandboxMoveClock(client, json)
      forgetTokens()
      await renewSession()
      await Promise.all([reload(), readService()])
    }, done)
  return (
    <section class="card">
      <h2>Time</h2>
      {clock && (
        <p>
          <b>{writeWhole(new Date(clock.now))}</b>{' '}
          {clock.offset === 0 ? (
            <Badge tone="good">real</Badge>
          ) : (
            <Badge tone="warn">{`${(clock.offset / 3_600_000).toFixed(1)} h ahead`}</Badge>
          )}
        </p>
      )}
      <div class="row">
        {['1m', '1h', '24h', '7d'].map((one) => (
          <button type="button" key={one} onClick={() => void move({ advance: one }, `It is ${one} later.`)}>
            {`+${one}`}
          </button>
        ))}
      </div>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          void move({ advance: by.value }, `It is ${by.value} later.`)
        }}
      >
        <Field label="Forward by">
          <input
            value={by.value}
            required
            onInput={(event) => {
              by.value = event.currentTarget.value
            }}
          />
        </Field>
        <button type="submit" class="main">
          Move the clock
        </button>
        <button type="button" onClick={() => void move({ real: true }, 'The clock shows the real time.')}>
          Real time
        </button>
      </form>
      <p class="soft">Timers that fall due run at once: windows close, codes expire, webhooks are retried.</p>
    </section>
  )
}

async function beginAnew(): Promise<void> {
  forgetTokens()
  await renewSession()
  await Promise.all([readService(), readDirectory()])
}

function ResetCard() {
  const reset = async () => {
    const isAgreed = await confirmAction({
      title: 'Reset the sandbox?',
      text: 'Everything in the store is deleted, subscriptions and tokens included, and the world file of the start is applied. Snapshots are kept.',
      action: 'Reset',
      isDangerous: true,
    })
    if (!isAgreed) return
    await attempt(async () => {
      await sandboxReset(client, {})
      await beginAnew()
    }, 'The store is reset.')
  }
  return (
    <section class="card">
      <h2>Reset</h2>
      <p>Empties the store, files included, and applies the world file of the start.</p>
      <button type="button" class="danger" onClick={() => void reset()}>
        Reset
      </button>
    </section>
  )
}

function Snapshots() {
  const list = useLoaded('snapshots', () => sandboxListSnapshots(client))
  const name = useSignal('before-checkout')
  const act = (work: () => Promise<unknown>, done: string) =>
    attempt(async () => {
      await work()
      await list.reload()
    }, done)
  const restore = async (snapshot: string) => {
    await sandboxRestoreSnapshot(client, snapshot)
    await beginAnew()
  }
  return (
    <section class="card">
      <h2>Snapshots</h2>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          void act(() => sandboxSaveSnapshot(client, { name: name.value }), 'The store is saved.')
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
      <ul class="plain-list">
        {(loadedValue(list)?.data ?? []).map((one) => (
          <li key={one.name} class="row">
            <b class="grow">{one.name}</b>
            <span class="soft">
              <When at={one.created_time} />
            </span>
            <button
              type="button"
              class="small"
              onClick={() => void act(() => restore(one.name), 'The snapshot is restored.')}
            >
              Restore
            </button>
            <button
              type="button"
              class="small"
              onClick={() => void act(() => sandboxDeleteSnapshot(client, one.name), 'The snapshot is deleted.')}
            >
              Delete
            </button>
          </li>
        ))}
      </ul>
      {loadedValue(list)?.data.length === 0 && <p class="soft">No snapshots yet.</p>}
    </section>
  )
}

const presets: readonly { name: string; rule: Rule }[] = [
  {
    name: 'Refuse one message (429)',
    rule: { match: { operation: 'messages.send' }, times: 1, effect: { status: 429, code: 130429 } },
  },
  { name: 'Send webhooks twice', rule: { effect: { duplicate: true } } },
  { name: 'Hold webhooks', rule: { effect: { hold: true } } },
  { name: 'Delay every response by 2 s', rule: { match: { door: 'business' }, effect: { delay: '2s' } } },
  {
    name: 'Break a tenth of the connections',
    rule: { match: { door: 'business' }, rate: 0.1, effect: { drop: true } },
  },
]

function Faults() {
  const list = useLoaded('faults', () => sandboxListFaults(client))
  const rules = loadedValue(list)?.rules ?? []
  const put = (next: readonly Rule[], done: string) =>
    attempt(async () => {
      await sandboxReplaceFaults(client, { rules: next.map(({ hits: _, ...rule }) => rule) })
      await list.reload()
    }, done)
  return (
    <section class="card">
      <h2>Faults</h2>
      <div class="row wrap">
        {presets.map(({ name, rule }) => (
          <button
            type="button"
            class="small"
            key={name}
            onClick={() => void put([...rules, rule], 'The fault is set.')}
          >
            {name}
          </button>
        ))}
      </div>
      <ul class="plain-list">
        {rules.map((rule, index) => (
          <li key={index} class="row">
            <code class="grow">{JSON.stringify({ ...rule, hits: undefined })}</code>
            <Badge tone={rule.hits ? 'warn' : 'plain'}>{`${rule.hits ?? 0} hits`}</Badge>
            <button
              type="button"
              class="small"
              onClick={() =>
                void put(
                  rules.filter((_, other) => other !== index),
                  'The fault is removed.',
                )
              }
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      {rules.length === 0 && <p class="soft">No faults are set.</p>}
    </section>
  )
}

function World() {
  const text = useSignal<string | undefined>(undefined)
  const part = useSignal('')
  const show = () =>
    attempt(async () => {
      const exported = await operatorExportWorld(client, { headers: { accept: 'application/yaml' } })
      text.value = await exported.text()
    })
  const apply = () =>
    attempt(async () => {
      await operatorApplyWorld(client, part.value, { headers: { 'content-type': 'application/yaml' } })
      await readDirectory()
    }, 'The world is applied.')
  return (
    <section class="card wide-card">
      <h2>World file</h2>
      <div class="row">
        <button type="button" onClick={() => void show()}>
          Show the store as a file
        </button>
      </div>
      {text.value !== undefined && <Code label="world.yaml" text={text.value} />}
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void apply()
        }}
      >
        <Field label="A whole file, or a part of one">
          <textarea
            class="mono"
            rows={6}
            required
            placeholder={'users:\n  - wa_id: "16505550123"\n    name: Grace'}
            value={part.value}
            onInput={(event) => {
              part.value = event.currentTarget.value
            }}
          />
        </Field>
        <button type="submit" class="main">
          Apply
        </button>
      </form>
    </section>
  )
}
