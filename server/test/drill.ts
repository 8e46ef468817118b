// Copies a whole site under load, loses it and restores it; `npm run drill -- --help` says how.
import { parseArgs } from 'node:util'
import { runDrill } from './harness/drill/run.ts'
import { type Form, forms } from './harness/drill/site.ts'

const help = `npm run drill -- [--form F]… [--seed S]

Hands in events and stores files, makes a backup meanwhile, loses everything, restores it by the commands of docs/keeping.md, and holds it
(./switchboard restored --hold). Then reads everything back, releases it, and counts what was lost, and what subscribers got twice. Ends
with 1 when something is lost that was acknowledged before the copy, when something leaves while it is held, or when a subscriber that
drops known ids gets an event of the restored store twice or never. PostgreSQL and sqlite3 are Debian's; root installs them when they are missing.

  --form F    ${forms.join(', ')}; all of them when left out
  --seed S    the same seed gives the same load; drawn when left out, and said
`

const { values } = parseArgs({
  options: {
    form: { type: 'string', multiple: true, default: [...forms] },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
})
const report = (line: string) => process.stdout.write(`${line}\n`)
const seed = Number(values.seed)
const isForm = (name: string): name is Form => forms.includes(name as Form)

if (values.help) report(help)
else if (!Number.isInteger(seed) || seed < 0) fail('--seed is a number from 0')
else if (!values.form.every(isForm)) fail(`--form is one of ${forms.join(', ')}`)
else for (const form of values.form) await run(form).catch((error: Error) => fail(`${error.message} (--seed ${seed})`))

async function run(form: Form): Promise<void> {
  report(`${form} with --seed ${seed}`)
  const ledger = await runDrill({ form, seed, report })
  report(JSON.stringify(ledger))
  const { events, lostEvents, files, lostFiles, sentWhileHeld, repeated } = ledger
  if (lostEvents.before > 0 || lostFiles.before > 0) fail('something is lost that was acknowledged before the copy')
  else if (sentWhileHeld > 0) fail(`${sentWhileHeld} webhooks left while sending was held`)
  else {
    report(`of ${events.before} events and ${files.before} files before the copy none is lost`)
    report(`of ${events.after} events and ${files.after} files after it ${lostEvents.after} and ${lostFiles.after} are`)
    report(`${repeated} webhooks came twice, each under the id that it had before`)
  }
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
