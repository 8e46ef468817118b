import type { Row } from '../../graph/operation.ts'
import { isOperation } from '../route-table.ts'
import { type ActionMethod, methodNames } from './method-names.ts'

/** What a method of the client returns: an object, the items of a list page by page, a text, a response to be read as a stream, or events. */
export type ResultKind = 'object' | 'list' | 'text' | 'response' | 'stream'

/** A method of the client that calls a row. */
export interface ClientCall extends Partial<Omit<ActionMethod, 'call'>> {
  /** `gateway.messages`: the member of the client. */
  readonly resource: string
  /** `write`: the method of the resource. */
  readonly name: string
}

/** The methods that call a row: several where it does several things, none where it is not for programs. */
export function listCalls(rowName: string): ClientCall[] {
  const named = methodNames[rowName]
  if (named === undefined) throw new Error(`${rowName} has no line in method-names.ts`)
  if (typeof named === 'string') return [splitCall(named)]
  return 'leftOut' in named ? [] : named.map(({ call, ...others }) => ({ ...splitCall(call), ...others }))
}

function splitCall(call: string): ClientCall {
  const end = call.lastIndexOf('.')
  return { resource: call.slice(0, end), name: call.slice(end + 1) }
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
