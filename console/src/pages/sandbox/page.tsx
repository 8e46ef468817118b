import { readDirectory } from '../../data/directory.ts'
import { isSandbox } from '../../data/http.ts'
import { loadService, readService } from '../../data/live.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { Empty, PageHead } from '../../ui/parts.tsx'
import { ClockCard } from './clock.tsx'
import { Faults } from './faults.tsx'
import { ResetCard } from './reset.tsx'
import './sandbox.css'
import { Snapshots } from './snapshots.tsx'
import { World } from './world.tsx'

/** Time by hand, faults on purpose, and the whole store saved, restored and begun anew. */
export function SandboxPage() {
  return (
    <div class="page page-sandbox">
      <PageHead of="sandbox" />
      {isSandbox ? <Tools /> : <NoSandbox />}
    </div>
  )
}

function NoSandbox() {
  return (
    <Empty title="This is not a sandbox">
      <p>Clock, faults and snapshots need SANDBOX=on.</p>
    </Empty>
  )
}

function Tools() {
  const clock = useLoaded('clock', loadService)
  /** After the whole store was exchanged: everything that the console shows. */
  const beginAnew = async () => {
    await Promise.all([readService(), readDirectory()])
  }
  return (
    <div class="cards">
      <section class="card">
        <h2>Time</h2>
        <Loaded of={clock} what="the clock" missing={<NoSandbox />}>
          {() => <ClockCard />}
        </Loaded>
      </section>
      <ResetCard beginAnew={beginAnew} />
      <Snapshots beginAnew={beginAnew} />
      <Faults />
      <World />
    </div>
  )
}
