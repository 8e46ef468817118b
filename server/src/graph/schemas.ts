import { Type } from 'typebox'

/** What most writes answer. */
export const successSchema = Type.Object({ success: Type.Boolean() })
