import { makeScopedDoor } from './scoped.ts'

/** `/operator/…`: whoever runs the service, over all tenants or those that the token is limited to. */
export const operatorDoor = makeScopedDoor('operator', { usesReserve: true })
