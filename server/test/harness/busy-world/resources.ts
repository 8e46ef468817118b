import type { Doors } from './doors.ts'
import { people } from './people.ts'
import { busyApps, busyIds } from './world.ts'

/** A group whose members are approved; two users wait. */
const approvedGroup = '6000000000000002'

/** What a world file cannot hold, or what subscribers are told of when it is made through the doors. */
export async function makeResources(doors: Doors): Promise<void> {
  await doors.business(`${busyApps.good.id}/msgapp_business_solution`, {
    solution_name: 'Garden Messaging',
    partner_app_id: busyApps.partner.id,
    owner_permissions: [],
    partner_permissions: ['MESSAGING'],
  })
  const { invite_link } = await doors.business(`${approvedGroup}/invite_link`, {})
  for (const { wa_id, name } of [people.hebrew, people.emoji]) {
    await doors.gateway('groups/join', { invite_link, user_wa_id: wa_id, name })
  }
  await makeTemplate(doors, 'spring_hours', 'We open at *eight* in spring, and at nine in summer.')
  const id = await makeTemplate(doors, 'delivery_today', 'Your plants are on their way and arrive today.')
  await doors.gateway(`templates/${id}`, { status: 'APPROVED' })
}

/** Asks for a template, which then waits for its review. */
async function makeTemplate(doors: Doors, name: string, text: string): Promise<string> {
  const template = { name, language: 'en_US', category: 'UTILITY', components: [{ type: 'BODY', text }] }
  return (await doors.business(`${busyIds.account}/message_templates`, template)).id
}
