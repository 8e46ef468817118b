import { Type } from 'typebox'
import { pagingSchema } from '../../graph/lists/paging.ts'

export const activitySchema = Type.Object({
  id: Type.Optional(Type.String()),
  time: Type.Optional(Type.String({ format: 'date-time' })),
  operation: Type.Optional(Type.String({ description: 'The name of the operation.' })),
  node_id: Type.Optional(Type.String({ description: 'What it was done to.' })),
  node_kind: Type.Optional(Type.String()),
  actor_app_id: Type.Optional(Type.String({ description: 'The app whose token did it.' })),
  actor_business_id: Type.Optional(Type.String({ description: 'The business of that app.' })),
  actor_token_id: Type.Optional(Type.String({ description: 'The id of the token, never its secret.' })),
  remote_address: Type.Optional(Type.String({ description: 'Where the request came from.' })),
  trace: Type.Optional(Type.String({ description: 'The trace of the request.' })),
})

export const activityListSchema = Type.Object({ data: Type.Array(activitySchema), paging: pagingSchema })
