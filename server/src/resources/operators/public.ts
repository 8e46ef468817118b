export { notADuration } from './errors.ts'
export { writeMoment } from './moments.ts'
