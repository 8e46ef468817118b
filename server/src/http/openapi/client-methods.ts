import type { Row } from '../../graph/operation.ts'
import { isOperation } from '../route-table.ts'

/** What a method of the client returns: an object, the items of a list page by page, a text, a response to be read as a stream, or events. */
export type ResultKind = 'object' | 'list' | 'text' | 'response' | 'stream'

/** Groups whose rows say in their names whom they are for, not what they are about. */
const groupNames: Readonly<Record<string, string>> = { operators: 'service' }

export interface MethodName {
  /** `phoneNumbers`: the member of the client. */
  readonly group: string
  /** `readInfo`: the method of the group. */
  readonly name: string
}

/** The name of a row as a method of the client. */
export function nameMethod(rowName: string): MethodName {
  const [prefix = '', verb = ''] = rowName.split('.')
  return { group: toCamelCase(renameGroup(prefix)), name: toCamelCase(verb) }
}

/** The first half of a row's name, as the client has it. */
export function renameGroup(prefix: string): string {
  return groupNames[prefix] ?? prefix
}

/** Whether its argument is a link that a response held. */
export function isLink({ door }: Row): boolean {
  return door === 'link' || door === 'edge_link'
}

export function resultOf(row: Row): ResultKind {
  if (row.list) return 'list'
  if (isOperation(row)) return 'object'
  const types = Object.keys(row.content)
  if (types.includes('text/event-stream')) return 'stream'
  if (types.length > 1 || isLink(row)) return 'response'
  if (types[0] === 'application/json') return 'object'
  return types[0]?.startsWith('text/') ? 'text' : 'response'
}

export function toCamelCase(name: string): string {
  return name.replaceAll(/[_-](\w)/g, (_match, letter: string) => letter.toUpperCase())
}
