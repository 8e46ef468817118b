import { chooseVocabulary, type VocabularyName, vocabularyNames } from '../../../server/src/graph/vocabulary.ts'
import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'
import { type Direction, listMembers, writeComment, writeType } from './write-type.ts'

/** A type of the client under its name: an interface with members, or any other type. */
export interface Declaration {
  readonly name: string
  readonly sentence?: string | undefined
  readonly members?: readonly string[]
  readonly type?: string
}

export function declareSchema(name: string, schema: JsonSchema, direction: Direction, sentence?: string): Declaration {
  const members = listMembers(schema, direction)
  return members ? { name, sentence, members } : { name, sentence, type: writeType(schema, direction) }
}

export interface Declarations {
  /** The source text of each type. */
  readonly texts: ReadonlyMap<string, string>
  /** Gives the types in a text that depend on the vocabulary their argument. */
  readonly apply: (text: string, argument: string) => string
}

/** A generic parameter for the vocabulary. */
export const parameter = "V extends Vocabulary = 'msgapp'"

type Known = Readonly<Record<VocabularyName, ReadonlyMap<string, Declaration>>>

/**
 * The types of both vocabularies. One that is the same in both is written once. One whose names alone differ takes the vocabulary as its
 * argument. One whose members differ is written for each, and its argument chooses.
 */
export function declareForBoth(given: Readonly<Record<VocabularyName, readonly Declaration[]>>): Declarations {
  const byName = (name: VocabularyName) => new Map(given[name].map((one) => [one.name, one]))
  const known: Known = { msgapp: byName('msgapp'), whatsapp: byName('whatsapp') }
  const names = [...new Set(vocabularyNames.flatMap((name) => [...known[name].keys()]))]
  const dependent = findDependent(known, names)
  const pattern = new RegExp(`(?<!['\\w])(?:${[...dependent].join('|')})(?!['\\w])`, 'g')
  const apply = (text: string, argument: string) =>
    mapCode(text, (line) => line.replace(pattern, (name) => `${name}<${argument}>`))
  return { texts: new Map(names.map((name) => [name, writeOne(known, dependent, name, apply)])), apply }
}

/** The types that differ between the vocabularies, and the types with a member of such a type. */
function findDependent(known: Known, names: readonly string[]): Set<string> {
  const inBoth = names.filter((name) => known.msgapp.has(name) && known.whatsapp.has(name))
  const dependent = new Set(
    inBoth.filter((name) => codeOf(known.msgapp.get(name)) !== codeOf(known.whatsapp.get(name))),
  )
  for (let before = -1; before !== dependent.size; ) {
    before = dependent.size
    for (const name of inBoth) {
      const words = codeOf(known.msgapp.get(name)).match(/(?<!')\b[A-Z]\w+\b/g) ?? []
      if (words.some((word) => dependent.has(word))) dependent.add(name)
    }
  }
  return dependent
}

function writeOne(known: Known, dependent: ReadonlySet<string>, name: string, apply: Declarations['apply']): string {
  const [one, other] = vocabularyNames.map((vocabulary) => known[vocabulary].get(name))
  const alone = vocabularyNames.find((vocabulary) => known[vocabulary].has(name)) ?? 'msgapp'
  if (!one || !other) return declare(known[alone].get(name), name, (text) => apply(text, `'${alone}'`))
  if (!dependent.has(name)) return declare(one, name)
  const [generic, otherGeneric] = vocabularyNames.map((vocabulary) =>
    mapCode(bodyOf(known[vocabulary].get(name)), (line) => putParameter(line, vocabulary)),
  )
  if (withoutComments(generic ?? '') === withoutComments(otherGeneric ?? '')) {
    return declare(one, `${name}<${parameter}>`, (text) =>
      apply(
        mapCode(text, (line) => putParameter(line, 'msgapp')),
        'V',
      ),
    )
  }
  return [
    declare(one, `${name}Msgapp`, (text) => apply(text, "'msgapp'")),
    extend(one, other, name, apply) ?? declare(other, `${name}Whatsapp`, (text) => apply(text, "'whatsapp'")),
    `${writeComment(one.sentence === undefined ? [] : [one.sentence], '')}export type ${name}<${parameter}> = { msgapp: ${name}Msgapp; whatsapp: ${name}Whatsapp }[V]\n`,
  ].join('\n')
}

/** Members of a vocabulary that are not in the other, where all of the other's are the same. */
function extend(one: Declaration, other: Declaration, name: string, apply: Declarations['apply']): string | undefined {
  const common = one.members ?? []
  const others = other.members ?? []
  const isSame = common.length > 0 && common.every((member) => others.includes(member) && apply(member, '') === member)
  if (!isSame) return undefined
  const more = others.filter((member) => !common.includes(member))
  return declare({ ...other, members: more }, `${name}Whatsapp extends ${name}Msgapp`, (text) =>
    apply(text, "'whatsapp'"),
  )
}

function declare(given: Declaration | undefined, name: string, change = (text: string) => text): string {
  const { sentence, members } = given ?? {}
  const comment = writeComment(sentence === undefined ? [] : [sentence], '')
  const body = change(bodyOf(given))
  return `${comment}export ${members ? `interface ${name} {\n${body}}` : `type ${name} = ${body}`}\n`
}

function bodyOf(given: Declaration | undefined): string {
  return given?.members?.join('') ?? given?.type ?? ''
}

function codeOf(given: Declaration | undefined): string {
  return withoutComments(bodyOf(given))
}

/** `'msgapp'` → `V`, `'msgapp_business_account'` → `` `${V}_business_account` `` */
function putParameter(line: string, name: VocabularyName): string {
  const { product } = chooseVocabulary(name)
  return line
    .replaceAll(new RegExp(`'${product}(_\\w+)'`, 'g'), (_match, rest: string) => `\`\${V}${rest}\``)
    .replaceAll(`'${product}'`, 'V')
}

const isComment = (line: string) => /^ *(\/\*\*|\*)/.test(line)

function mapCode(text: string, change: (line: string) => string): string {
  return text
    .split('\n')
    .map((line) => (isComment(line) ? line : change(line)))
    .join('\n')
}

function withoutComments(text: string): string {
  return text
    .split('\n')
    .filter((line) => !isComment(line))
    .join('\n')
}
