/** The parts of an OpenAPI 3.1 document that we write. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1'
  readonly info: Info
  readonly servers: readonly { readonly url: string }[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly tags: readonly Tag[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: Components
}

interface Info {
  readonly title: string
  readonly summary: string
  readonly description: string
  readonly version: string
}

export interface Tag {
  readonly name: string
  readonly 'x-displayName': string
}

export type PathItem = Readonly<Partial<Record<'get' | 'post' | 'delete', OperationObject>>>

export interface OperationObject {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  /** By default that of the whole document. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly (Parameter | Reference)[]
  readonly requestBody?: RequestBody
  readonly responses: Readonly<Record<string, Response | Reference>>
  /** The rows of the table behind it. */
  readonly 'x-operations': readonly RowSummary[]
}

interface RowSummary {
  readonly name: string
  readonly node: string
  readonly sentence: string
  /** The accepted scopes; a token needs one of them. */
  readonly permission: readonly string[]
  /** The rate limits besides `platform`. */
  readonly rate_class: string | null
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema?: JsonSchema
  readonly content?: Readonly<Record<string, MediaType>>
  readonly example?: string
  readonly examples?: Examples
}

export interface RequestBody {
  readonly required: boolean
  readonly description: string
  readonly content: Readonly<Record<string, MediaType>>
}

export interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, Reference>>
  readonly content: Readonly<Record<string, MediaType>>
}

interface MediaType {
  readonly schema: JsonSchema
  readonly examples?: Examples
}

export interface Header {
  readonly description: string
  /** Whether every such response has the header. */
  readonly required?: boolean
  readonly schema?: JsonSchema
  readonly content?: Readonly<Record<string, MediaType>>
}

export interface SecurityScheme {
  readonly type: 'http' | 'apiKey'
  readonly description: string
  readonly scheme?: string
  readonly in?: 'query' | 'header'
  readonly name?: string
}

export interface Components {
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
  readonly parameters: Readonly<Record<string, Parameter>>
  readonly headers: Readonly<Record<string, Header>>
  readonly responses: Readonly<Record<string, Response>>
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

export interface Reference {
  readonly $ref: string
}

export type JsonSchema = Readonly<Record<string, unknown>>
export type Examples = Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>

export function refTo(section: keyof Components, name: string): Reference {
  return { $ref: `#/components/${section}/${name}` }
}
