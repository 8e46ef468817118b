export { notADuration } from './errors.ts'
export { refuseWorld } from './refuse-world.ts'
export { writeTimestamp as writeMoment } from './timestamps.ts'
