import { SomethingCame } from './filters.ts'
import { type Mailbox, placeError, type Wanted } from './mailbox.ts'
import { StillBusy } from './quiet.ts'

/** Fails as soon as something comes that fits, or that came before and was not waited for. Passes when everything is quiet. */
export async function expectNothing<T>(
  mailbox: Mailbox<T>,
  wanted: Wanted<T>,
  becomeQuiet: () => Promise<void>,
): Promise<void> {
  const { promise, cancel, stack } = mailbox.watch(wanted)
  const quiet = becomeQuiet().then(
    () => undefined,
    async (error: unknown) => {
      if (!(error instanceof StillBusy)) throw error
      const lines = [`whether no ${wanted.what} comes cannot be told: ${error.message}.`, ...(await mailbox.explain())]
      return new StillBusy(lines.join('\n'))
    },
  )
  // When something came, that is the outcome, whatever becomes of this.
  quiet.catch(() => undefined)
  const came = promise.then((item) => {
    const shown = mailbox.describe(item, wanted.showsAll ?? false)
    return new SomethingCame(`no ${wanted.what} should come, and this came:\n  ${shown}`)
  })
  const problem = await Promise.race([came, quiet]).finally(cancel)
  if (problem) throw placeError(problem, stack)
}
