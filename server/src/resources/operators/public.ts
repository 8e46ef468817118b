export { notADuration } from './errors.ts'
export { writeMoment } from './moments.ts'
export { refuseWorld } from './refuse-world.ts'
