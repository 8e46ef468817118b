import fc from 'fast-check'
import { aac, gif, jpeg, pdf, png } from '../harness/media-files.ts'
import type { Schema } from './document.ts'
import type { Draw } from './draw.ts'
import { fitsText } from './text-rules.ts'

/** Where values come from besides chance. */
export interface ValueSources {
  /** What is known to stand under such a name somewhere: ids of the world, what answers held. */
  recall(name: string): readonly (string | number)[]
  /** Where a callback may go: nowhere but to this machine. */
  readonly callbackUrl: string
}

/** The most that is made of what may be large; beyond it are the absurd requests. */
const largest = { text: 300, items: 4 }
const files: readonly Buffer[] = [png, jpeg, gif, pdf, aac, Buffer.from('plain text'), Buffer.alloc(0)]

/** Makes values that a schema takes. */
export class Values {
  readonly #sources: ValueSources
  readonly #texts = new Map<string, fc.Arbitrary<string>>()

  constructor(sources: ValueSources) {
    this.#sources = sources
  }

  make(draw: Draw, schema: Schema, name: string): unknown {
    if ('const' in schema) return schema['const']
    if (Array.isArray(schema['enum'])) return draw.pick(schema['enum'])
    const choices = schema['anyOf'] ?? schema['oneOf']
    if (Array.isArray(choices)) return this.make(draw, draw.pick(choices as Schema[]), name)
    switch (schema['type']) {
      case 'string':
        return this.#makeText(draw, schema, name)
      case 'integer':
        return this.#makeInteger(draw, schema, name)
      case 'number':
        return draw.chance(50) ? this.#makeInteger(draw, schema, name) : draw.integer(-1_000_000, 1_000_000) / 128
      case 'boolean':
        return draw.chance(50)
      case 'null':
        return null
      case 'array':
        return this.#makeArray(draw, schema, name)
      case 'object':
        return this.#makeObject(draw, schema)
      default:
        return draw.from(anything)
    }
  }

  /** Every required member, and some of the others. */
  #makeObject(draw: Draw, schema: Schema): Record<string, unknown> {
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
    const required = (schema['required'] ?? []) as readonly string[]
    const usual = draw.pick([0, 30, 70, 100])
    const chosen = properties.filter(([name]) => required.includes(name) || draw.chance(usual))
    return Object.fromEntries(chosen.map(([name, member]) => [name, this.make(draw, member, name)]))
  }

  #makeArray(draw: Draw, schema: Schema, name: string): unknown[] {
    const min = Number(schema['minItems'] ?? 0)
    const max = Math.min(Number(schema['maxItems'] ?? Number.POSITIVE_INFINITY), min + largest.items)
    const length = draw.integer(min, max)
    const items = Array.from({ length }, () => this.make(draw, (schema['items'] ?? {}) as Schema, name))
    if (!schema['uniqueItems']) return items
    const different = [...new Map(items.map((item) => [JSON.stringify(item), item])).values()]
    return different.length >= min ? different : this.#makeArray(draw, schema, name)
  }

  #makeInteger(draw: Draw, schema: Schema, name: string): number {
    const min = Number(schema['minimum'] ?? (schema['maximum'] === undefined ? -2147483648 : 0))
    const max = Number(schema['maximum'] ?? 2147483647)
    const known = this.#sources
      .recall(name)
      .filter((value) => Number.isInteger(value) && +value >= min && +value <= max)
    if (known.length > 0 && draw.chance(30)) return Number(draw.pick(known))
    return draw.integer(Math.max(min, -2147483648), Math.min(max, 2147483647))
  }

  #makeText(draw: Draw, schema: Schema, name: string): unknown {
    if (schema['format'] === 'binary') return draw.pick(files)
    const inner = schema['contentSchema'] as Schema | undefined
    if (inner) return JSON.stringify(this.make(draw, inner, name))
    const known = this.#sources.recall(name).filter((value) => typeof value === 'string' && fitsText(schema, value))
    if (known.length > 0 && draw.chance(50)) return draw.pick(known)
    return this.#makeNewText(draw, schema)
  }

  #makeNewText(draw: Draw, schema: Schema): string {
    const min = Number(schema['minLength'] ?? 0)
    const max = Math.min(Number(schema['maxLength'] ?? largest.text), min + largest.text)
    const arbitrary = this.#arbitraryFor(schema, min, max)
    for (let tries = 0; tries < 20; tries++) {
      const text = draw.from(arbitrary)
      if (fitsText(schema, text)) return text
    }
    throw new Error(`no text was found that fits ${JSON.stringify(schema)}`)
  }

  /** Made once for each form of text: making one takes longer than drawing from it a hundred times. */
  #arbitraryFor(schema: Schema, min: number, max: number): fc.Arbitrary<string> {
    const { format, pattern } = schema as { format?: string; pattern?: string }
    const key = JSON.stringify([format, pattern, min, max])
    const arbitrary = this.#texts.get(key) ?? this.#makeArbitrary(format, pattern, min, max)
    this.#texts.set(key, arbitrary)
    return arbitrary
  }

  #makeArbitrary(format: string | undefined, pattern: string | undefined, min: number, max: number) {
    if (format === 'uri' || pattern?.includes('[Tt][Pp]')) return this.#arbitraryUrl(max)
    if (format === 'email') return email
    if (format === 'date') return day
    if (format === 'date-time') return moment
    return pattern === undefined ? plainText(min, max) : fc.stringMatching(new RegExp(pattern, 'u'), { size: 'small' })
  }

  /** The server may call what it is given, so it is given nothing but its own machine. */
  #arbitraryUrl(maxLength: number): fc.Arbitrary<string> {
    const { callbackUrl } = this.#sources
    const path = fc.stringMatching(/^[a-z0-9/._~?=&-]{0,40}$/)
    return fc.oneof(
      fc.constantFrom(callbackUrl, `${callbackUrl}/`, callbackUrl.replace('http', 'HTTP')),
      path.map((text) => `${callbackUrl}/${text}`.slice(0, maxLength)),
    )
  }
}

const anything = fc.jsonValue({ maxDepth: 2 })
const email = fc.stringMatching(/^[a-z0-9]{1,20}(\.[a-z]{1,9})?@[a-z]{1,10}\.[a-z]{2,5}$/)
const time = fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
const moment = time.map((date) => date.toISOString())
const day = moment.map((text) => text.slice(0, 10))

/** Text of every script, and now and then as long as it may be. */
function plainText(minLength: number, maxLength: number): fc.Arbitrary<string> {
  const unit = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789 .-') },
    { weight: 1, arbitrary: fc.constantFrom('é', 'ß', '中', '🌱', '\u0301', '\u200d', '"', '\\', "'", '<', '%', '\n') },
  )
  return fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit, minLength, maxLength: Math.min(maxLength, minLength + 20) }) },
    { weight: 1, arbitrary: fc.string({ unit, minLength: maxLength, maxLength }) },
  )
}
