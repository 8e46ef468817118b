import type { Chapter } from '../../chapter.ts'
import type { NewRow } from '../../graph/operation.ts'
import { appSecretOperations } from './app-secrets.ts'
import { auditOperations } from './audit.ts'
import { deliveryOperations } from './deliveries.ts'
import { laneOperations } from './lanes.ts'
import { nodeOperations } from './nodes.ts'
import { replayOperations } from './replay.ts'
import { makeReplayHandler, replayTimer } from './replay-job.ts'
import { replayJobOperations } from './replays.ts'
import { requestOperations } from './requests.ts'
import { stateOperations } from './state.ts'
import { streamOperations } from './stream.ts'
import { tokenOperations } from './tokens.ts'
import { traceOperations } from './traces.ts'
import { waitOperations } from './wait.ts'
import { worldOperations } from './world.ts'

/** What whoever runs the service sees and does, over all tenants. */
export const operatorsChapter: Chapter = {
  name: 'operators',
  title: 'Operators',
  rows: operatorOperations,
  timers: (deps) => ({ [replayTimer]: makeReplayHandler(deps) }),
}

function operatorOperations(): NewRow[] {
  return [
    ...stateOperations(),
    ...nodeOperations(),
    ...tokenOperations(),
    ...appSecretOperations(),
    ...deliveryOperations(),
    ...replayOperations(),
    ...replayJobOperations(),
    ...laneOperations(),
    ...auditOperations(),
    ...worldOperations(),
    ...requestOperations(),
    ...traceOperations(),
    ...streamOperations(),
    ...waitOperations(),
  ]
}
