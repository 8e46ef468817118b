// Uses the server for minutes on end and looks for what it does not give back: npm run soak -- --minutes 10 [--database sqlite|postgres]
import { parseArgs } from 'node:util'
import { runSoak } from './soak/run.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, database: { type: 'string', default: 'sqlite' } },
})
const minutes = Number(values.minutes)
const engine = values.database
if (engine !== 'sqlite' && engine !== 'postgres') throw new Error('--database is sqlite or postgres')
if (!(minutes > 0)) throw new Error('--minutes is a number of minutes, such as 10 or 0.5')

const report = (line: string) => process.stdout.write(`${line}\n`)
const { growth, done, faults } = await runSoak({ engine, seconds: minutes * 60, report })
report([...done].map(([name, count]) => `${count} ${name}`).join(', '))
if (faults !== '') report(`what the server said:\n${faults}`)
for (const line of growth) report(line)
const failed = growth.length > 0 || faults !== ''
report(failed ? 'not everything was given back' : 'everything was given back')
process.exitCode = failed ? 1 : 0
