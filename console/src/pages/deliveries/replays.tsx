import { operatorReplaysStop } from '@switchboard/client/methods'
import { client } from '../../data/http.ts'
import type { Replay } from '../../data/types.ts'
import { Badge } from '../../ui/parts.tsx'
import { writeDayAndSeconds } from '../../ui/times.ts'
import { attempt } from '../../ui/toast.tsx'

/** The replays that run as a job. */
export function Replays({ replays, reload }: { readonly replays: readonly Replay[]; readonly reload: () => void }) {
  if (replays.length === 0) return null
  const stop = (id: string) =>
    attempt(async () => {
      await operatorReplaysStop(client, id)
      reload()
    })
  return (
    <section class="lanes" aria-label="Replays">
      {replays.map((replay) => (
        <article key={replay.id} class="lane">
          <header>
            <h2>Sending again</h2>
            <Badge tone={replay.error === null ? 'good' : 'bad'}>{`${Math.floor(replay.progress * 100)} %`}</Badge>
          </header>
          <progress max={1} value={replay.progress} aria-label={`Replay ${replay.id}`} />
          <p class="soft">{describe(replay)}</p>
          {replay.error !== null && <p class="bad">{replay.error}</p>}
          <div class="row">
            <button type="button" class="small" onClick={() => void stop(replay.id)}>
              Stop
            </button>
          </div>
        </article>
      ))}
    </section>
  )
}

function describe({ filter, replayed, total, left_out, to }: Replay): string {
  const which = Object.entries(filter).map(([name, value]) => {
    const isTime = name === 'since' || name === 'until'
    return `${name} ${isTime ? writeDayAndSeconds(new Date(value)) : value}`
  })
  const where = to === null ? '' : ` to ${to}`
  const leftOut = left_out > 0 ? `, ${left_out} left out` : ''
  return `${replayed} of about ${total}${leftOut}: ${which.join(', ')}${where}.`
}
