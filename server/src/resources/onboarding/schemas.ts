import { Type } from 'typebox'

export const newOnboardingSchema = Type.Object({
  solution_id: Type.Optional(Type.String({ description: 'A solution of the calling app, to link the request with.' })),
})

export const onboardingSchema = Type.Object({ request_id: Type.String() })
