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
  const webhooks = replayed === 1 ? '1 webhook is' : `${replayed.toLocaleString()} webhooks are`
  return `${webhooks} queued to be sent again.`
}

const labels: Readonly<Record<string, string>> = { since: 'Since', to: 'The other address' }

/** What the service says is wrong with an argument, with the words of the form: `since: it must be …` → `Since must be …`. */
export function nameByLabel(problem: string): string {
  return beginUpper(problem.replace(/^(since|to): it (?=must )/, (_, name: string) => `${labels[name]} `))
}
