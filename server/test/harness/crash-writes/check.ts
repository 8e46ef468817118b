import { setTimeout as wait } from 'node:timers/promises'
import { findFileProblems } from './check-files.ts'
import { findRowProblems } from './check-rows.ts'
import { Contradiction } from './shelf.ts'
import { StoreView } from './store-view.ts'

/** Far longer than anything that is due takes; a timer that never goes off is a contradiction. */
const timeoutMs = 120_000

/** Resolves when every timer whose hour has come, or comes in a moment, has gone off, and every link was fetched. */
export async function whenNothingIsDue(dataDir: string, milliseconds = timeoutMs): Promise<void> {
  const end = performance.now() + milliseconds
  for (;;) {
    const due = await StoreView.look(dataDir, (store) =>
      store.rows<{ kind: string }>(
        "SELECT kind FROM timers WHERE due_time <= ? UNION ALL SELECT 'link' FROM link_fetches",
        Date.now() + 500,
      ),
    )
    if (due.length === 0) return
    if (performance.now() > end) {
      throw new Contradiction(`${due.length} timers do not go off, such as one of ${due[0]?.kind}`)
    }
    await wait(20)
  }
}

/** Throws unless the rows are in step with each other and with the files. */
export async function checkStore(store: StoreView, dataDir: string): Promise<void> {
  const problems = [...findRowProblems(store), ...(await findFileProblems(store, dataDir, Date.now()))]
  if (problems.length > 0) throw new Contradiction(problems.slice(0, 10).join('; '))
}
