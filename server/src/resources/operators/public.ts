export { notADuration } from './errors.ts'
export { refuseWorld } from './refuse-world.ts'
export { writeTimestamp } from './timestamps.ts'
