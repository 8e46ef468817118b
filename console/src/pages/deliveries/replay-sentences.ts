import { beginUpper } from '../../ui/begin-upper.ts'

interface Answer {
  readonly replayed: number
  readonly job?: { readonly total: number }
}

/** What became of a replay. That webhooks are sent is not said: their subscriber may be paused or down. */
export function writeQueued({ replayed, job }: Answer): string {
  if (job) {
    return `About ${job.total.toLocaleString()} webhooks are queued to be sent again: how far it is, is shown here.`
  }
  if (replayed === 0) return 'No webhook that can still be sent matches: none is sent again.'
  return `${count(replayed)} queued to be sent again.`
}

/** What became of webhooks that waited at a former address, and why some of them stay there. */
export function writeMoved(moved: number, problem: string | undefined): string {
  const queued = `${count(moved)} queued for the callback that the app has now.`
  return problem === undefined ? queued : `${queued} Others stay where they are: ${problem}`
}

function count(webhooks: number): string {
  return webhooks === 1 ? '1 webhook is' : `${webhooks.toLocaleString()} webhooks are`
}

const labels: Readonly<Record<string, string>> = { since: 'Since', to: 'The other address' }

/** What the service says is wrong with an argument, with the words of the form: `since: it must be …` → `Since must be …`. */
export function nameByLabel(problem: string): string {
  return beginUpper(problem.replace(/^(since|to): it (?=must )/, (_, name: string) => `${labels[name]} `))
}
