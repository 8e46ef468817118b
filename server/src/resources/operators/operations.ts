import type { Chapter } from '../../chapter.ts'
import type { NewRow } from '../../graph/operation.ts'
import { auditOperations } from './audit.ts'
import { deliveryOperations } from './deliveries/deliveries.ts'
import { laneOperations } from './deliveries/lanes.ts'
import { makeReplayHandler, replayTimer } from './deliveries/replay-job.ts'
import { replayOperations } from './deliveries/replay-operations.ts'
import { replayJobOperations } from './deliveries/replays.ts'
import { findOperations } from './find/find.ts'
import { nodeOperations } from './nodes.ts'
import { signUpFactOperations } from './sign-up-facts.ts'
import { appSecretOperations } from './tokens/app-secrets.ts'
import { tokenOperations } from './tokens/tokens.ts'
import { feedOperations } from './watch/feed.ts'
import { requestOperations } from './watch/requests.ts'
import { stateOperations } from './watch/state.ts'
import { streamOperations } from './watch/stream.ts'
import { traceOperations } from './watch/traces.ts'
import { waitOperations } from './watch/wait.ts'
import { whyOperations } from './why/why.ts'
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
    ...findOperations(),
    ...tokenOperations(),
    ...appSecretOperations(),
    ...signUpFactOperations(),
    ...deliveryOperations(),
    ...replayOperations(),
    ...replayJobOperations(),
    ...laneOperations(),
    ...auditOperations(),
    ...worldOperations(),
    ...requestOperations(),
    ...traceOperations(),
    ...whyOperations(),
    ...streamOperations(),
    ...feedOperations(),
    ...waitOperations(),
  ]
}
