import type { InboundAdmission } from '../../../chapter.ts'
import { eventBounds } from './envelope-schemas.ts'
import { hasVerifyToken } from './receiver-store.ts'
import { VerifiedBody } from './signed-body.ts'
import { identifySigner, isLinkedToAll } from './signed-post.ts'

export const inboundAdmission: InboundAdmission = {
  bounds: eventBounds,
  // Looked up by its keyed hash, so the time reveals nothing.
  isVerifyToken: hasVerifyToken,
  openSignedBody: (options) => new VerifiedBody(options),
  identifySigner,
  isLinkedToAll,
}
