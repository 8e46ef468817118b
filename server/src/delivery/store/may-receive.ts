import { type RawBuilder, sql } from 'kysely'
import { hasAccess } from '../../auth/access.ts'
import { isAboutConnection } from '../rules/about-connection.ts'

/** Whether the app of a delivery `d` may have it now: 1 or 0, because SQLite has no boolean type. */
export const mayReceive: RawBuilder<number> = sql<number>`CASE
  WHEN ${isAboutConnection(sql.ref('d.conversation'))} THEN 1
  WHEN ${hasAccess(sql.ref('apps.business_id'), sql.ref('d.account_id'))} THEN 1 ELSE 0 END`
