import { type Expression, type RawBuilder, sql } from 'kysely'

/** The kind of the conversation that events about an app's connection to an account are of. */
export const connectionKind = 'connection'
const startOfConnection = `${connectionKind}/`

/** Whether an event is about an app's connection: the app gets it even where the connection, and with it its access, has ended. */
export function concernsConnection(conversation: string): boolean {
  return conversation.startsWith(startOfConnection)
}

/** The same as a condition of a query. */
export function isAboutConnection(conversation: Expression<string>): RawBuilder<boolean> {
  return sql<boolean>`substr(${conversation}, 1, ${sql.lit(startOfConnection.length)}) = ${sql.lit(startOfConnection)}`
}
