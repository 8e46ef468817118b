export { notADuration } from './errors.ts'
export { refuseWorld } from './refuse-world.ts'
export { writeMoment } from './timestamps.ts'
