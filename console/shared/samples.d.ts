export type Language = 'curl' | 'JavaScript' | 'Python'
export const languages: readonly Language[]

export interface SampleRequest {
  readonly method: string
  /** The address of the service. */
  readonly base: string
  /** With its placeholders. */
  readonly path: string
  readonly who: string
  readonly token: string
  readonly fields: readonly SampleField[]
  /** The JSON body as text. */
  readonly body?: string | undefined
  /** A body that is not JSON, in base64. */
  readonly bytes?: string | undefined
  readonly sdk: SampleCall
  readonly vocabulary: string
}

export interface SampleField {
  readonly name: string
  readonly in: string
  readonly value: string
  /** `string`, or what its text is read as. */
  readonly type: string
}

export interface SampleMethod {
  /** `phoneNumbers.list` */
  readonly call: string
  /** Members that the method itself sends. */
  readonly fixed?: Readonly<Record<string, string>>
  /** Members that are arguments of their own. */
  readonly args?: readonly string[]
}

/** How the client of the service calls an operation. */
export interface SampleCall {
  /** Its methods; of several the first is meant whose fixed members and arguments are there. */
  readonly calls: readonly SampleMethod[]
  /** The placeholders that are its first arguments. */
  readonly args: readonly string[]
  readonly result: 'object' | 'list' | 'text' | 'response' | 'stream'
  /** Whether its argument is the link of a response. */
  readonly link: boolean
  /** Whether it has parameters at all. */
  readonly params: boolean
  /** Whether the client fills in `messaging_product`. */
  readonly product: boolean
  /** The option of the client that takes the token; undefined: none is needed. */
  readonly token: 'token' | 'gatewayToken' | 'operatorToken' | undefined
  /** The version that the client takes by itself. */
  readonly version: string
}

export function writeSample(language: Language, request: SampleRequest): string

export interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The body as text, or the name of a file with it. */
  readonly body?: { readonly text: string } | { readonly file: string } | undefined
}

export function writeCurl(request: CurlRequest): string
export function quote(text: string): string
export function readJson(text: string): unknown

/** The method that sends these parameters. */
export function chooseMethod<Method extends SampleMethod>(
  methods: readonly Method[],
  params: Readonly<Record<string, unknown>>,
): Method
/** Takes what the method sends itself out of the parameters, and gives its arguments. */
export function takeArguments(method: SampleMethod, params: Record<string, unknown>): unknown[]
