import { testManyLanes } from './harness/many-lanes.ts'

testManyLanes({ idle: 800, watched: 4, beside: 5000, subscribers: 600 })
