import { Type } from 'typebox'
import { idSchema } from '../../graph/schemas.ts'

export const newOnboardingSchema = Type.Object({
  solution_id: Type.Optional(idSchema({ description: 'A solution of the calling app, to link the request with.' })),
})

export const onboardingSchema = Type.Object({ request_id: Type.String() })
