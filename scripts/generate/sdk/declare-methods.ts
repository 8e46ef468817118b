import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import { type Declaration, declareSchema } from './declarations.ts'
import type { Method } from './describe-methods.ts'
import type { Parameter } from './kinds-of-messages.ts'
import { type Member, writeLiteral, writeMember } from './write-type.ts'

/** The types of a method: its parameters, and what it gives. */
export function declareMethod(method: Method): Declaration[] {
  const { row, resource, name, typeName, parameters, kinds, output, result } = method
  const call = `\`${resource}.${name}\``
  const types: Declaration[] = []
  if (kinds) {
    types.push(declareSchema(`${typeName}Params`, kinds, 'sent', `The parameters of ${call}.`))
  } else if (parameters.length > 0) {
    const members = parameters.map((parameter) => writeMember(toMember(method, parameter), 'sent', '  '))
    types.push({ name: `${typeName}Params`, sentence: `The parameters of ${call}.`, members })
  }
  if (result === 'list' && output) {
    types.push(declareSchema(`${typeName}Item`, findItems(output).item, 'received', `An item of ${call}.`))
  } else if (result === 'object' && output) {
    types.push(declareSchema(`${typeName}Response`, output, 'received', `The response of ${call}.`))
  } else if (result === 'stream') {
    types.push({ name: `${typeName}Event`, sentence: `An event of ${call}.`, type: streamEvents[row.name] ?? '' })
  }
  return types
}

/** What the events of a stream hold: the schemas of rows that show the same, and of what no row shows. */
const streamEvents: Readonly<Record<string, string>> = {
  'operator.stream': `
  | { id: string; event: OperatorFeedWaitParams['type']; data: OperatorFeedWaitResponse }
  | StreamReset`,
  'gateway.stream': `
  | { id: string; event: 'message'; data: GatewayMessagesRetrieveResponse }
  | { id: string; event: 'status'; data: { id: string; status: string; user_wa_id?: string; timestamp: string } }
  | { id: string; event: 'typing'; data: { phone_number_id: string; user_wa_id: string; until: string } }
  | { id: string; event: 'call'; data: GatewayCallsListItem }
  | StreamReset`,
}

/** Where the items of a list are: in `data`, or in the one member of it. */
export function findItems(output: JsonSchema): { readonly item: JsonSchema; readonly inner: string | undefined } {
  const data = (output['properties'] as Record<string, JsonSchema>)['data'] ?? {}
  if (data['items']) return { item: data['items'] as JsonSchema, inner: undefined }
  const [[inner, list] = ['', {} as JsonSchema], ...others] = Object.entries(
    data['properties'] as Record<string, JsonSchema>,
  )
  if (!list['items'] || others.length > 0) throw new Error(`no items of a list in ${JSON.stringify(output)}`)
  return { item: list['items'] as JsonSchema, inner }
}

/** Some parameters are easier to give than their schemas say. */
function toMember({ row }: Method, { name, schema, required }: Parameter): Member {
  const member = { name, schema, required }
  if (row.file?.name === name) return { ...member, type: 'FileInput' }
  if (name === 'fields' && row.fields) {
    return { ...member, type: `readonly (${row.fields.available.map(writeLiteral).join(' | ')})[] | string` }
  }
  if (name === 'fields' && row.name.startsWith('webhooks.')) {
    // An editor offers the names; a name that only a newer server knows is taken too.
    return { ...member, type: 'readonly (WebhookField | (string & Record<never, never>))[] | string' }
  }
  if (name === 'filtering') {
    return { ...member, type: 'readonly { field: string; operator: string; value: unknown }[] | string' }
  }
  return member
}
