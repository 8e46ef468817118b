import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EgressReason } from '../delivery/egress-error.ts'
import { adviseOn } from '../delivery/handshake.ts'
import * as catalogue from '../graph/errors.ts'
import { rateClasses } from '../limits/classes.ts'
import { type Constants, isSign, readConstants, readTexts } from './message-texts.ts'
import { readGroups, readTokens, type Token } from './source-tokens.ts'

const { GraphError } = catalogue
type GraphError = catalogue.GraphError

/** Who reads a message: whoever calls the API, writes a world file, or sits at the command line. */
export type Audience = 'api' | 'world' | 'command'

export interface Message {
  readonly audience: Audience
  /** The folder or file under server/src that says it. */
  readonly where: string
  readonly text: string
  /** The error as it is answered, for messages of the API. */
  readonly error: GraphError | undefined
}

/** A call, or a member of an object, whose text is a message; `of` says in which sources. */
interface Maker {
  readonly name: string
  readonly of: RegExp
  readonly audience: Audience
  /** Which argument is the text. */
  readonly message: number
  /** Which argument the error needs besides it: a name, a code or a subcode. */
  readonly besides?: number
  readonly make?: (message: string, besides: string) => GraphError
}

const retryAfter = 60
const numberOf = (text: string) => Number(text)
const callers: readonly Omit<Maker, 'of' | 'audience'>[] = [
  { name: 'badArgument', message: 1, besides: 0, make: (text, name) => catalogue.badArgument(name, text) },
  { name: 'malformedRequest', message: 0, make: catalogue.malformedRequest },
  { name: 'nothingThere', message: 0, make: catalogue.nothingThere },
  { name: 'featureOff', message: 0, make: catalogue.featureOff },
  {
    name: 'forbidden',
    message: 0,
    besides: 1,
    make: (text, code) => (code ? catalogue.forbidden(text, numberOf(code)) : catalogue.forbidden(text)),
  },
  {
    name: 'ruleBroken',
    message: 0,
    besides: 1,
    make: (text, code) => (code ? catalogue.ruleBroken(text, numberOf(code)) : catalogue.ruleBroken(text)),
  },
  {
    name: 'rateLimited',
    message: 0,
    besides: 1,
    make: (text, subcode) => catalogue.rateLimited(text, numberOf(subcode), retryAfter),
  },
  {
    name: 'limitReached',
    message: 0,
    besides: 1,
    make: (text, code) => catalogue.limitReached(text, numberOf(code), retryAfter),
  },
]

const inSdp = (text: string) => catalogue.badArgument('session.sdp', `line ‹line› ${text}`)
const unverified = (text: string) => catalogue.ruleBroken(`The callback could not be verified: ${text}.`)
const unanswered = (message: string, reason: EgressReason) => unverified(adviseOn({ reason, message }))
const ofAnyClass = (text: string) =>
  [...new Set(Object.values(rateClasses).map(({ subcode }) => subcode))].map((subcode) =>
    catalogue.rateLimited(text, subcode, retryAfter),
  )

const makers: readonly Maker[] = [
  ...callers.map((maker) => ({ ...maker, of: /^(?!http\/openapi|graph\/errors)/, audience: 'api' as const })),
  {
    name: 'refuse',
    of: /^resources\/encryption\//,
    audience: 'api',
    message: 0,
    make: (text) => catalogue.badArgument('business_public_key', text),
  },
  {
    name: 'EgressError',
    of: /^delivery\/(?!egress-error)/,
    audience: 'api',
    message: 1,
    besides: 0,
    make: (text, reason) => unanswered(text, reason as EgressReason),
  },
  // One of several things that were asked for at once: told within the answer, or in an event.
  { name: 'problem', of: /^resources\/groups\/rules/, audience: 'api', message: 2 },
  { name: 'add', of: /^world|\/world\.ts$/, audience: 'world', message: 1 },
  { name: 'refuse', of: /^world\//, audience: 'world', message: 2 },
  { name: 'warn', of: /^resources\/webhooks\/world/, audience: 'world', message: 1 },
  { name: 'CommandFailed', of: /^cli\//, audience: 'command', message: 0 },
  { name: 'BadSetting', of: /^(cli\/|config)/, audience: 'command', message: 0 },
  { name: 'BadSetting', of: /^base\/setting-parsers/, audience: 'command', message: 0 },
  { name: 'UnknownMigrations', of: /^db\//, audience: 'command', message: 0 },
  { name: 'DatabaseUnavailable', of: /^db\//, audience: 'command', message: 0 },
  { name: 'BadKeyFile', of: /^(base|db)\//, audience: 'command', message: 0 },
  { name: 'SecretsLocked', of: /^db\//, audience: 'command', message: 0 },
  { name: 'SecretUnreadable', of: /^base\//, audience: 'command', message: 0 },
]

/** Members of objects that hold a message, or its end. */
const members: readonly { name: string; of: RegExp; make: (text: string) => GraphError }[] = [
  { name: 'problem', of: /^resources\/calls\/sdp/, make: inSdp },
  { name: 'expects', of: /^resources\/calls\/sdp/, make: (text) => inSdp(`must be ${text}.`) },
  {
    name: 'problem',
    of: /^(resources\/(?!calls)|graph\/validation)/,
    make: (text) => catalogue.badArgument('‹argument›', text),
  },
  { name: 'because', of: /^resources\//, make: (text) => catalogue.ruleBroken(text) },
]

/** Functions, or whole sources, whose every longer text is a message, or its end. */
const speakers: readonly {
  readonly name?: string
  readonly of: RegExp
  /** What its messages look like, where not all texts are such. */
  readonly spoken?: RegExp
  readonly make: ((text: string) => GraphError | GraphError[]) | undefined
}[] = [
  {
    of: /^resources\/calls\/sdp(-lines|-attributes)?\.ts$/,
    spoken: /^(?!must be ‹\w+›\.$)[a-z][^\\ ]* .*[^\\]\.$/,
    make: (text) => inSdp(text),
  },
  { name: 'describeRefusal', of: /^resources\/calls\/states\.ts$/, make: (text) => catalogue.ruleBroken(text) },
  {
    name: 'findUrlProblem',
    of: /^delivery\/callback-url\.ts$/,
    spoken: /\.$/,
    make: (text) => catalogue.badArgument('‹argument›', text),
  },
  {
    of: /^delivery\/egress-error\.ts$/,
    // What is said when the service stops itself is never the answer.
    spoken: /^(?!the service)(the|its|no) /,
    make: (text) => unanswered(text, 'connection_failed'),
  },
  { name: 'askCallback', of: /^delivery\/handshake\.ts$/, make: unverified },
  {
    name: 'describeKnownKeys',
    of: /^graph\/validation\.ts$/,
    make: (text) => catalogue.badArgument('‹argument›', text),
  },
  { name: 'answerBrokenRequest', of: /^http\/server\.ts$/, make: catalogue.malformedRequest },
  { name: 'describeLimit', of: /^limits\/limiter\.ts$/, make: ofAnyClass },
  { name: 'describeFailure', of: /^cli\/fail\.ts$/, make: undefined },
]

/** Where a message is handed on that is made by one of the members or speakers above, or by the schema of an argument. */
const handedOn = /^(?:[\w.]*\bproblem|[\w.]*\bbecause|describeRefusal|describeLimit|reason|fullGroup)\b/

/** Most sources tell nobody anything, and need not be taken apart. */
const telling = new RegExp(`\\b(?:${[...makers, ...members].map(({ name }) => name).join('|')})\\b`)

/** Every message that somebody can be told, found in the sources, and those of the catalogue that are always the same. */
export function collectMessages(folder: string): Message[] {
  const found = listSources(folder, '').flatMap((path) => {
    const source = readFileSync(join(folder, path), 'utf8')
    const speaks = speakers.some(({ of }) => of.test(path))
    return speaks || telling.test(source) ? new Source(path, source).collect() : []
  })
  return [...listFixed(), ...found]
}

/** What the catalogue says by itself, with samples where something is put in. */
function listFixed(): Message[] {
  return [
    catalogue.unknownVersion('v1', ['v23.0']),
    catalogue.missingToken(),
    catalogue.invalidToken(),
    catalogue.demoTokenFromElsewhere(),
    catalogue.invalidSignature(),
    catalogue.staleSignature(5),
    catalogue.missingPermission(['‹permission›']),
    catalogue.notFound(),
    catalogue.linkExpired(),
    catalogue.rangeNotSatisfiable(1024),
    catalogue.internalFault(undefined),
    catalogue.cannotStore(undefined),
    catalogue.cannotReachStore(undefined),
    catalogue.storeBusy(undefined),
  ].map((error) => ({ audience: 'api', where: 'graph/errors.ts', text: error.message, error }))
}

function listSources(folder: string, under: string): string[] {
  return readdirSync(join(folder, under), { withFileTypes: true })
    .flatMap((entry) => {
      const path = under === '' ? entry.name : `${under}/${entry.name}`
      if (entry.isDirectory()) return entry.name === 'generate' ? [] : listSources(folder, path)
      return path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : []
    })
    .sort()
}

class Source {
  readonly #path: string
  readonly #tokens: readonly Token[]

  constructor(path: string, source: string) {
    this.#path = path
    this.#tokens = readTokens(source)
  }

  collect(): Message[] {
    return [...this.#collectCalls(), ...this.#collectMembers(), ...this.#collectSpeakers()]
  }

  *#collectCalls(): Generator<Message> {
    const tokens = this.#tokens
    for (const [at, token] of tokens.entries()) {
      if (token.kind !== 'word' || !isSign(tokens[at + 1], '(') || isWord(tokens[at - 1], 'function')) continue
      const maker = makers.find(({ name, of }) => name === token.text && of.test(this.#path))
      if (!maker) continue
      const { groups } = readGroups(tokens, at + 1)
      const constants = readConstants(tokens, at)
      const given = groups[maker.message] ?? []
      const texts = readTexts(given, constants)
      if (!texts) {
        this.#checkHandedOn(token.text, given)
        continue
      }
      const besides = this.#readBesides(maker, groups, constants)
      for (const text of texts) {
        // What ends in a problem, and what is the service's own end, is found where it is made, or is never told.
        if (/‹(?:problem|message)›\.?$/.test(text) || besides.includes('closed')) continue
        for (const one of besides) yield this.#message(maker, completeSetting(maker, text), maker.make?.(text, one))
      }
    }
  }

  /** The name, code or subcode that an error has besides its message; a subcode that is not written down is any of them. */
  #readBesides({ name, besides }: Maker, groups: readonly Token[][], constants: Constants): string[] {
    const tokens = besides === undefined ? [] : (groups[besides] ?? [])
    if (tokens.length === 0) return ['']
    if (name === 'badArgument' || name === 'EgressError') return [readTexts(tokens, constants)?.[0] ?? '‹argument›']
    const [first, ...others] = tokens
    const value = first?.kind === 'word' && others.length === 0 ? constants.get(first.text) : undefined
    if (value?.kind === 'word') return [value.text]
    if (name !== 'rateLimited')
      throw new Error(`${this.#path}: the code of a ${name} must be a constant of the same file`)
    const words = tokens.flatMap((token) => (token.kind === 'word' ? [token.text] : []))
    const named = Object.entries(rateClasses).filter(([rateClass]) => words.includes(rateClass))
    const classes = named.length > 0 ? named : Object.entries(rateClasses)
    return [...new Set(classes.map(([, { subcode }]) => String(subcode)))]
  }

  #checkHandedOn(name: string, tokens: readonly Token[]): void {
    const written = tokens.map((token) => (token.kind === 'word' || token.kind === 'sign' ? token.text : '…')).join('')
    if (handedOn.test(written) || tokens.length === 0) return
    throw new Error(
      `${this.#path}: the text of ${name}(${written}) is made elsewhere; write it there, or say in error-messages.ts where it is made`,
    )
  }

  *#collectMembers(): Generator<Message> {
    const tokens = this.#tokens
    for (const [at, token] of tokens.entries()) {
      if (token.kind !== 'word' || !isSign(tokens[at + 1], ':')) continue
      const member = members.find(({ name, of }) => name === token.text && of.test(this.#path))
      if (!member) continue
      const texts = readTexts(tokens.slice(at + 2, findEnd(tokens, at + 2)), readConstants(tokens, at)) ?? []
      for (const text of texts) yield this.#message({ audience: 'api' }, text, member.make(text))
    }
  }

  *#collectSpeakers(): Generator<Message> {
    for (const { name, make, spoken = / / } of speakers.filter((speaker) => speaker.of.test(this.#path))) {
      const [from, to] = name === undefined ? [0, this.#tokens.length] : this.#findBody(name)
      for (let at = from; at < to; at++) {
        const token = this.#tokens[at]
        if (token?.kind !== 'text' && token?.kind !== 'template') continue
        // Members were read above.
        if (isSign(this.#tokens[at - 1], ':') && isWord(this.#tokens[at - 2], 'problem')) continue
        for (const text of readTexts([token], readConstants(this.#tokens, at)) ?? []) {
          if (text.length <= 15 || !spoken.test(text)) continue
          for (const error of make ? [make(text)].flat() : [undefined]) {
            yield this.#message({ audience: make ? 'api' : 'command' }, text, error)
          }
        }
      }
    }
  }

  #findBody(name: string): [number, number] {
    const tokens = this.#tokens
    const at = tokens.findIndex((token, index) => isWord(token, 'function') && isWord(tokens[index + 1], name))
    if (at < 0) throw new Error(`${this.#path} has no function ${name} any more; see error-messages.ts`)
    const parameters = readGroups(tokens, at + 2).end
    const open = tokens.findIndex((token, index) => index > parameters && isSign(token, '{'))
    return [open, readGroups(tokens, open).end]
  }

  #message({ audience }: Pick<Message, 'audience'>, text: string, error: GraphError | undefined): Message {
    return { audience, where: this.#path, text: error instanceof GraphError ? error.message : text, error }
  }
}

/** What a parser of a setting says is the end of a sentence that names the setting and its value. */
function completeSetting({ name }: Maker, text: string): string {
  return name === 'BadSetting' && !text.includes(' is ') ? `‹setting› is ‹value›; it must be ${text}` : text
}

function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === 'word' && token.text === text
}

/** Where the value of a member ends. */
function findEnd(tokens: readonly Token[], from: number): number {
  let depth = 0
  for (let at = from; at < tokens.length; at++) {
    const token = tokens[at] as Token
    if (token.kind !== 'sign') continue
    if ('([{'.includes(token.text)) depth++
    else if (')]}'.includes(token.text) && depth-- === 0) return at
    else if (token.text === ',' && depth === 0) return at
  }
  return tokens.length
}
