import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { DescribedAnswer, DescribedHeader, FuzzedApi, MediaType, Schema } from './document.ts'
import type { FuzzRequest } from './requests.ts'
import { formats } from './text-rules.ts'
import type { FuzzAnswer } from './wire.ts'

/** A request that names no operation is refused as one that cannot be read, or that nobody answers. */
const refusalStatuses = [400, 404]
/** Bytes that break off in the body may be refused for who sent them, before anyone comes to the body. */
const byteStatuses = [...refusalStatuses, 401, 403]

/** Holds answers against what the documents promise. */
export class Checker {
  readonly #refusal: DescribedAnswer
  readonly #ajv: Ajv2020
  readonly #validators = new Map<Schema, ValidateFunction>()

  constructor({ refusal }: FuzzedApi) {
    this.#refusal = refusal
    this.#ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true })
    for (const [name, validate] of Object.entries(formats)) this.#ajv.addFormat(name, validate)
    this.#ajv.addVocabulary(['example'])
  }

  /** What is wrong with an answer; nothing, if it keeps the promise. */
  check({ operation, method, bytes }: FuzzRequest, answer: FuzzAnswer): string[] {
    const { status } = answer
    if (status >= 500) return [`it answered ${status}`]
    if (!operation) {
      if (!(bytes ? byteStatuses : refusalStatuses).includes(status))
        return [`a request for no operation was answered ${status}`]
      return this.#checkAnswer(this.#refusal, answer)
    }
    const described = operation.answers[status]
    if (!described) {
      const known = Object.keys(operation.answers).join(', ')
      return [`${method} ${operation.path} answered ${status}, and only ${known} are documented`]
    }
    return this.#checkAnswer(described, answer)
  }

  /** Whether a value is one that a schema takes. */
  fits(schema: Schema, value: unknown): string | undefined {
    const validate = this.#validators.get(schema) ?? this.#ajv.compile(schema)
    this.#validators.set(schema, validate)
    if (validate(value)) return undefined
    return this.#ajv.errorsText(validate.errors, { dataVar: 'value' })
  }

  #checkAnswer(described: DescribedAnswer, answer: FuzzAnswer): string[] {
    const headers = Object.entries(described.headers ?? {}).map(([name, header]) =>
      this.#checkHeader(name, header, answer),
    )
    return [...headers, this.#checkBody(described, answer)].filter((problem) => problem !== undefined)
  }

  #checkHeader(name: string, header: DescribedHeader, { headers }: FuzzAnswer): string | undefined {
    const value = headers[name.toLowerCase()]
    if (value === undefined) return header.required ? `the header ${name} is missing` : undefined
    const json = header.content?.['application/json']
    const problem = json
      ? this.#checkJson(json, value)
      : header.schema && this.fits(header.schema, readHeader(header.schema, value))
    return problem && `the header ${name}: ${problem}`
  }

  #checkBody({ content = {} }: DescribedAnswer, { headers, body }: FuzzAnswer): string | undefined {
    const type = headers['content-type']?.split(';', 1)[0] ?? 'none'
    // A 304 has no content.
    if (type === 'none' && body.length === 0 && Object.keys(content).length === 0) return undefined
    const media = content[type] ?? content[type.replace(/\/.*/, '/*')]
    if (!media) return `the content type is ${type}, and only ${Object.keys(content).join(', ')} is documented`
    if (type === 'application/json') return this.#checkJson(media, body.toString('utf8'))
    return media.schema && this.fits(media.schema, body.toString('utf8'))
  }

  #checkJson({ schema }: MediaType, text: string): string | undefined {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return `this is not JSON: ${text.slice(0, 200)}`
    }
    return schema && this.fits(this.#strict(schema), value)
  }

  readonly #stricter = new Map<Schema, Schema>()

  #strict(schema: Schema): Schema {
    const known = this.#stricter.get(schema) ?? (withoutRoom(schema) as Schema)
    this.#stricter.set(schema, known)
    return known
  }
}

/** The same schema without room for members that it does not name: what an answer holds is to be documented. */
function withoutRoom(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutRoom)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).map(([name, member]) => [name, withoutRoom(member)])
  const closed = Object.fromEntries(members)
  return closed.type === 'object' && closed.properties ? { additionalProperties: false, ...closed } : closed
}

/** A header is text; what is documented as a number is one that is written so. */
function readHeader({ type }: Schema, value: string): unknown {
  return type === 'integer' && /^-?\d+$/.test(value) ? Number(value) : value
}
