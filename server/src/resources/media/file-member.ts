import type { FileMember } from '../../graph/operation.ts'
import { checkWhileArriving } from './accept.ts'
import { openFileText } from './file-text.ts'
import { largestMediaBytes } from './kinds.ts'

/** The member `file` of an upload, for every door. */
export const mediaFile: FileMember = {
  name: 'file',
  typeMember: 'type',
  limits: (settings) => ({ fileBytes: largestMediaBytes(settings), textBodyBytes: settings.maxMediaTextBytes }),
  openText: openFileText,
  check: checkWhileArriving,
}
