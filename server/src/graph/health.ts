import { Type } from 'typebox'

const eligibilities = ['AVAILABLE', 'LIMITED', 'BLOCKED'] as const
type Eligibility = (typeof eligibilities)[number]

/** Whether a node can take part in messaging, in the form that client libraries read. */
export const healthSchema = Type.Object({
  can_send_message: Type.Enum(eligibilities),
  entities: Type.Array(
    Type.Object({ entity_type: Type.String(), id: Type.String(), can_send_message: Type.Enum(eligibilities) }),
  ),
})

export function describeHealth(entity_type: 'PHONE_NUMBER' | 'WABA', id: string, can_send_message: Eligibility) {
  return { can_send_message, entities: [{ entity_type, id, can_send_message }] }
}
