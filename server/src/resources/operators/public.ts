export { writeTimestamp } from '../../graph/input/timestamps.ts'
export { notADuration } from './errors.ts'
export { refuseWorld } from './refuse-world.ts'
