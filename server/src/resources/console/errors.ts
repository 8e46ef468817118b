import { defineError } from '../../graph/define-error.ts'

export const consoleLinkUsed = defineError({
  id: 'console_link_used',
  status: 403,
  text: 'The link was used already or its time is over; make a new one with ./switchboard console link.',
})
export const consoleFromElsewhere = defineError({
  id: 'console_from_elsewhere',
  status: 403,
  text: 'Another page than the console asks to sign in; open the console itself.',
})
