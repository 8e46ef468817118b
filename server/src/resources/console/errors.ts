import { defineError } from '../../graph/define-error.ts'

export const consoleLinkUsed = defineError({
  id: 'console_link_used',
  status: 403,
  text: 'The link was used already or has expired; create a new link with the command switchboard console link.',
})
export const consoleFromElsewhere = defineError({
  id: 'console_from_elsewhere',
  status: 403,
  text: 'A page other than the console tried to sign in; open the console itself.',
})
