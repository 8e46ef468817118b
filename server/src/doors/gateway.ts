import { makeScopedDoor } from './scoped.ts'

/** `/gateway/…`: the network's edge, acting for users' phones. It has no limit: the edge is part of the platform. */
export const gatewayDoor = makeScopedDoor('gateway')
