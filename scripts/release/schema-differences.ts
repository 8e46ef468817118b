// What changed between two JSON Schemas, as the side that did not change sees it: a request may be refused that was accepted, a response
// may lack what was read. https://www.npmjs.com/package/openapi-diff does not read OpenAPI 3.1 (docs/decisions/0079-releases.md).

export interface Schema {
  readonly $ref?: string
  readonly title?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly contentSchema?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly [keyword: string]: unknown
}

export type Direction = 'request' | 'response'

export interface Change {
  /** The operation that a changelog names. */
  readonly operation: string
  /** What changed, and where. */
  readonly text: string
  readonly breaking: boolean
}

export interface SchemaSide {
  readonly schema: Schema | undefined
  resolve(schema: Schema): Schema
}

interface Place {
  readonly direction: Direction
  readonly operation: string
  readonly path: string
}

const upperLimits = ['maxLength', 'maximum', 'exclusiveMaximum', 'maxItems', 'maxProperties'] as const
const lowerLimits = ['minLength', 'minimum', 'exclusiveMinimum', 'minItems', 'minProperties'] as const
/** What a limit is that is not written; of a number there is none. */
const unwritten: Readonly<Record<string, number>> = { minLength: 0, minItems: 0, minProperties: 0 }
const forms = ['pattern', 'format'] as const

export function compareSchemas(before: SchemaSide, after: SchemaSide, place: Place): Change[] {
  const old = before.schema && before.resolve(before.schema)
  const now = after.schema && after.resolve(after.schema)
  // Nothing was said of it, or nothing is any more.
  if (!old || !now || isSame(old, now)) return []
  const here = place.path === '' ? { ...place, operation: nameOperation(old, place.operation) } : place
  const variants = variantsOf(old)
  const changed = variantsOf(now)
  if (variants.length > 1 || changed.length > 1) {
    return [
      ...compareTypes(typesOf(variants, before), typesOf(changed, after), here),
      ...variants.flatMap((variant) => compareVariant({ ...before, schema: variant }, changed, after, here)),
    ]
  }
  return [
    ...compareTypes(typesOf([old], before), typesOf([now], after), here),
    ...compareValues(old, now, here),
    ...(here.direction === 'request' ? compareLimits(old, now, here) : []),
    ...compareMembers(old, now, before, after, here),
    ...(['items', 'contentSchema'] as const).flatMap((keyword) =>
      compareSchemas(
        { ...before, schema: old[keyword] },
        { ...after, schema: now[keyword] },
        { ...here, path: keyword === 'items' ? `${here.path}[]` : here.path },
      ),
    ),
  ]
}

/** Of two schemas with the same references it is not known: what they refer to may differ. */
function isSame(old: Schema, now: Schema): boolean {
  const text = JSON.stringify(old)
  return text === JSON.stringify(now) && !text.includes('"$ref"')
}

/** Titles of schemas are names of operations: on a path that several operations share, they say which one it is. */
function nameOperation(schema: Schema, otherwise: string): string {
  return schema.title && /^[a-z_]+\.[a-z_]+$/.test(schema.title) ? schema.title : otherwise
}

function variantsOf(schema: Schema): readonly Schema[] {
  return schema.anyOf ?? schema.oneOf ?? [schema]
}

/** Against the variant that is most like it: the one of the same name, or the one with the fewest changes. */
function compareVariant(before: SchemaSide, variants: readonly Schema[], after: SchemaSide, place: Place): Change[] {
  const name = before.schema?.$ref
  const sameName = name === undefined ? undefined : variants.find(({ $ref }) => $ref === name)
  const outcomes = (sameName ? [sameName] : variants).map((variant) =>
    compareSchemas(before, { ...after, schema: variant }, place),
  )
  return outcomes.reduce((best, one) => (countBreaking(one) < countBreaking(best) ? one : best))
}

function countBreaking(changes: readonly Change[]): number {
  return changes.filter(({ breaking }) => breaking).length
}

/** Undefined where any type will do. */
function typesOf(schemas: readonly Schema[], side: SchemaSide): Set<string> | undefined {
  const types = new Set<string>()
  for (const schema of schemas.map(side.resolve)) {
    const values = valuesOf(schema)
    const named = schema.type ?? values?.map((value) => (value === null ? 'null' : typeof value))
    if (named === undefined) return undefined
    for (const type of [named].flat()) types.add(type)
  }
  return types
}

function compareTypes(old: Set<string> | undefined, now: Set<string> | undefined, place: Place): Change[] {
  const [narrow, wide] = place.direction === 'request' ? [now, old] : [old, now]
  if (narrow === undefined) return []
  const lost = [...(wide ?? ['any type'])].filter(
    (type) => !narrow.has(type) && !(type === 'integer' && narrow.has('number')),
  )
  const text = place.direction === 'request' ? 'is no longer accepted as' : 'may now be'
  return lost.map((type) => change(place, true, `${text} ${type}`))
}

function valuesOf(schema: Schema): readonly unknown[] | undefined {
  return 'const' in schema ? [schema.const] : schema.enum
}

function compareValues(old: Schema, now: Schema, place: Place): Change[] {
  const [had, has] = [valuesOf(old), valuesOf(now)]
  const lacks = (list: readonly unknown[], value: unknown) => !list.includes(value)
  const gone = had && has ? had.filter((value) => lacks(has, value)) : []
  const come = had && has ? has.filter((value) => lacks(had, value)) : []
  if (place.direction === 'request') {
    return [
      ...(!had && has ? [change(place, true, `accepts only ${write(has)}`)] : []),
      ...gone.map((value) => change(place, true, `no longer accepts ${write([value])}`)),
      ...come.map((value) => change(place, false, `accepts ${write([value])}`)),
    ]
  }
  // Callers must accept unknown values, so a new value breaks nobody. It is breaking when every earlier value is gone.
  const replaced = had !== undefined && had.length > 0 && gone.length === had.length
  return [
    ...(replaced ? [change(place, true, `is ${write(has ?? [])}, and no longer ${write(had)}`)] : []),
    ...(replaced ? [] : come.map((value) => change(place, false, `may be ${write([value])}`))),
  ]
}

function write(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ')
}

function compareLimits(old: Schema, now: Schema, place: Place): Change[] {
  const found: Change[] = []
  const compare = (keyword: string, isNarrower: (limit: number, before: number) => boolean, none: number) => {
    const limit = now[keyword]
    const before = (old[keyword] as number | undefined) ?? unwritten[keyword] ?? none
    if (typeof limit !== 'number' || limit === before) return
    const narrower = isNarrower(limit, before)
    const was = Number.isFinite(before) ? `, was ${before}` : ''
    found.push(change(place, narrower, `${keyword} is ${limit}${was}`))
  }
  for (const keyword of upperLimits) compare(keyword, (limit, before) => limit < before, Number.POSITIVE_INFINITY)
  for (const keyword of lowerLimits) compare(keyword, (limit, before) => limit > before, Number.NEGATIVE_INFINITY)
  // Whether one pattern accepts all that another does is not known, so another one counts as narrower.
  for (const keyword of forms) {
    if (now[keyword] !== undefined && now[keyword] !== old[keyword]) {
      found.push(change(place, true, `${keyword} is ${now[keyword]}`))
    }
  }
  if (now['uniqueItems'] === true && old['uniqueItems'] !== true) {
    found.push(change(place, true, 'items must differ'))
  }
  return found
}

function compareMembers(old: Schema, now: Schema, before: SchemaSide, after: SchemaSide, place: Place): Change[] {
  const found: Change[] = []
  const [had, has] = [old.properties ?? {}, now.properties ?? {}]
  const isRequest = place.direction === 'request'
  for (const [name, schema] of Object.entries(had)) {
    const member = { ...place, path: place.path ? `${place.path}.${name}` : name }
    const counterpart = has[name]
    if (!counterpart) {
      found.push(change(member, true, isRequest ? 'is no longer known' : 'is gone'))
    } else {
      if (isRefused(counterpart) && !isRefused(schema)) found.push(change(member, true, 'is refused'))
      found.push(...compareSchemas({ ...before, schema }, { ...after, schema: counterpart }, member))
    }
  }
  for (const name of Object.keys(has).filter((one) => !(one in had))) {
    found.push(change({ ...place, path: place.path ? `${place.path}.${name}` : name }, false, 'is new'))
  }
  const [first, second] = isRequest ? [now, old] : [old, now]
  for (const name of (first.required ?? []).filter((one) => !second.required?.includes(one))) {
    // A member that is gone from a response has been named.
    if (!isRequest && !has[name]) continue
    const member = { ...place, path: place.path ? `${place.path}.${name}` : name }
    found.push(change(member, true, isRequest ? 'is required' : 'may be missing'))
  }
  if (isRequest && now.additionalProperties === false && old.additionalProperties !== false) {
    found.push(change(place, true, 'accepts no other members'))
  }
  const [others, othersNow] = [old.additionalProperties, now.additionalProperties]
  if (typeof others === 'object' && typeof othersNow === 'object') {
    const each = { ...place, path: `${place.path}.*` }
    found.push(...compareSchemas({ ...before, schema: others }, { ...after, schema: othersNow }, each))
  }
  return found
}

/** A member that is named only to say that it is refused; 0.1.0 said so in words alone. */
function isRefused(schema: Schema): boolean {
  return 'x-refused' in schema || /^Not offered/.test(String(schema['description']))
}

function change({ direction, operation, path }: Place, breaking: boolean, text: string): Change {
  return { operation, breaking, text: `${direction}${path ? ` \`${path.replace(/^\./, '')}\`` : ''} ${text}` }
}
