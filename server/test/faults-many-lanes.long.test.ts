import { testManyLanes } from './harness/many-lanes.ts'

/** As many as a large service has. */
testManyLanes({ idle: 2000, watched: 10, beside: 20_000, subscribers: 2000 })
