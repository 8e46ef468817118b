import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Transaction } from '../db/database.ts'
import type { Files } from '../files/files.ts'
import type { PieceStore } from '../files/piece-store.ts'
import type { SharedSettings } from '../processes/agreement.ts'
import type { ServiceProcess } from '../processes/heartbeat.ts'
import type { SandboxPort } from '../sandbox/port.ts'
import type { Feed } from '../stream/feed.ts'
import type { PushBody } from '../stream/push-event.ts'
import type { Caller } from './caller.ts'
import type { Node, NodeKindInfo } from './nodes.ts'
import type { Reply } from './reply.ts'
import type { ServedVersions } from './versions.ts'

/** Slows down callers who guess tokens, or other secrets. */
export interface GuessWatch {
  /** Throws for an address that guessed too often. */
  refuse(address: string, secret?: string): void
  noteWrong(address: string, guess?: { readonly secret?: string; readonly bytes?: number }): void
  noteGood(secret: string): void
}

/** The ports of a rule: its access to the outside, always before its transaction begins. */
export interface Ports {
  /**
   * The handshake: verifies that a callback knows the token. Throws the 422 with the reason when it does not, and the 400 when the
   * address is not allowed for callbacks; `member` is the argument that the 400 names, by default `callback_url`.
   */
  verifyCallback(url: string, verify_token: string, member?: string): Promise<void>
  /** Counts one use under a rate class where it is for the row to say which node it is of; throws the 429. */
  countUse(rateClass: 'number_creation' | 'request_code', node: Node): Promise<void>
  /** The blob store. */
  readonly files: Files
  /** Files that arrive over several requests. */
  readonly pieces: PieceStore
  /**
   * For steps that must be stored while the request still arrives: each is a transaction of its own, and commits only if the caller is
   * still admitted.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** What happens between users and numbers. */
  readonly usersStream: UsersStream
  readonly documents: Documents
  readonly console: ConsolePort
  /** Undefined: people sign in by codes alone. */
  readonly peopleIssuer: PeopleIssuer | undefined
  readonly health: Health
  readonly service: ServiceFacts
  readonly world: WorldPort
  /** Everything that happens, for whoever watches. */
  readonly feed: Feed
  /** The last requests of this process, the newest first. */
  listRequests(): readonly KeptRequest[]
  /** Whether a token that was admitted before still is; throws when it is not. */
  readmitOperator(before: Caller): Promise<Caller>
  /** Undefined where there is no sandbox. */
  readonly sandbox: SandboxPort | undefined
  /** Throws the 400 when events may not be sent to that address; `member` is the argument that the 400 names. */
  checkCallbackUrl(url: string, member: string): void
}

/** A request that this process has responded to. */
export interface LoggedRequest {
  readonly id: string
  /** Counts the requests of the process. */
  readonly number: number
  readonly time: number
  readonly door: string
  readonly operation: string
  readonly method: string
  /** Path and query, in a sandbox alone. */
  readonly target?: string
  readonly status: number
  readonly error: { readonly code: number; readonly message: string } | null
  /** The fault rule of a sandbox that it was hit by. */
  readonly fault?: string
  readonly milliseconds: number
  readonly business_id: string | null
  readonly app_id: string | null
  readonly node_id: string | null
  readonly account_id: string | null
  /** The number that the path names. */
  readonly phone_number_id: string | null
  readonly remote_address: string | null
  /** Whether a page of the console sent it. */
  readonly by_console: boolean
  readonly trace: string
  readonly request_headers?: Readonly<Record<string, string>>
  /** Null: it had none, or one that is not kept. */
  readonly request_body?: string | null
  readonly response_body?: string | null
}

/** The same before its headers and bodies are read: they are only where somebody looks at it. */
export interface KeptRequest
  extends Omit<LoggedRequest, 'target' | 'request_headers' | 'request_body' | 'response_body'> {
  whole(): LoggedRequest
}

/** World files: the whole store as a text, and back. */
export interface WorldPort {
  /** Streams what an operator with these limits sees of the store. */
  export(format: 'yaml' | 'json', limits: WorldLimits | undefined): Readable
  /** Reads a file, checks what can be checked without the store, and returns what applies it in a transaction. Throws the 400. */
  prepare(text: string): Promise<(tx: Transaction) => Promise<AppliedWorld>>
}

export interface WorldLimits {
  readonly accounts: ReadonlySet<string> | undefined
  readonly businesses: ReadonlySet<string> | undefined
}

export interface AppliedWorld {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  /** What was not applied, each with its place. */
  readonly warnings: readonly string[]
}

/** What is fixed while the process runs. */
export interface ServiceFacts {
  readonly version: string
  readonly versions: ServedVersions
  readonly vocabulary: string
  /** The name of the database for people. */
  readonly store: string
  readonly process: ServiceProcess
  /** What processes compare of their settings. */
  readonly sharedSettings: SharedSettings
  /** Every kind of node. */
  readonly nodeKinds: Readonly<Record<string, NodeKindInfo>>
}

/** The stream of messages, statuses and typing indicators. */
export interface UsersStream {
  open(caller: Caller, asked: StreamFilter, lastEventId: string | undefined): Promise<PushBody>
  /** Calls `onEvent` whenever something happens on the phone of a user, and `onEnd` if the stream ends. Returns what stops it. */
  watch(caller: Caller, user_wa_id: string, onEvent: () => void, onEnd: () => void): Promise<() => void>
  /** Who is calling by now; throws when the caller may not listen any more. */
  readmit(before: Caller): Promise<Caller>
}

export interface StreamFilter {
  readonly user_wa_id?: string
  readonly phone_number_id?: string
}

/** The pages and documents of the service itself. */
export interface Documents {
  /** `showsDemo`: for a client that may use the demo world. `notice`: why this page is shown in the place of the console. */
  start(showsDemo: boolean, notice: string): Promise<Reply>
  /** `frame`: the console around it, when there is one. */
  docs(request: IncomingHttpHeaders, showsDemo: boolean, frame: ConsoleFiles | undefined): Promise<Reply>
  openApi(door: 'business' | 'gateway' | 'operator', request: IncomingHttpHeaders): Promise<Reply>
}

/** The console: its pages, and who may use it. */
export interface ConsolePort {
  /** The page that the script of the console takes over; a text when there is none, which says why. */
  page(visitor: Visitor, address: ConsoleAddress): Promise<Reply | string>
  /** A page that says that there is none, for an address with this first segment: that of the console, or without it a small one. */
  missing(visitor: Visitor, first: string): Promise<Reply>
  /** The files that a page in the frame of the console loads; undefined when there is none. */
  frame(): Promise<ConsoleFiles | undefined>
  /** A script or a style of the page; undefined when there is none of that name. */
  file(name: string, request: IncomingHttpHeaders): Promise<Reply | undefined>
  /** Signs a visitor in if that is possible, and says who it is. */
  signIn(visitor: Visitor): Promise<Reply>
  /** Sends a browser to the issuer that says who operators are; from there it goes on to a path of this service. */
  beginSignIn(visitor: Visitor, returnTo: string | undefined): Promise<Reply>
  /** Takes what the browser brings back from the issuer, and begins a session. */
  finishSignIn(visitor: Visitor, response: IssuerResponse): Promise<Reply>
  /** Sends a browser whose session has ended to the issuer, to end that one's too. */
  signOut(visitor: Visitor): Promise<Reply>
}

/** Where people of businesses sign in to a sign-up, besides by codes. */
export interface PeopleIssuer {
  /** For people. */
  readonly host: string
  /**
   * Where the browser goes, and the cookies that bring the ticket of its dialog back with it; `again`: to be asked there who it is,
   * although somebody is signed in. Throws `SignInFailed`.
   */
  begin(
    headers: IncomingHttpHeaders,
    ticket: string,
    again: boolean,
  ): Promise<{ readonly location: string; readonly cookies: string[] }>
  /** Who came back; undefined: nobody who left this browser for the issuer with that state a short while ago. */
  resume(headers: IncomingHttpHeaders, response: IssuerResponse): ReturnedPerson | undefined
}

interface ReturnedPerson {
  /** That of the dialog. */
  readonly ticket: string
  /** The cookies by which the browser forgets this sign-in. */
  readonly forget: string[]
  /** The verified e-mail address, in lower case; undefined: the issuer says none. Throws `SignInFailed`. */
  findEmail(): Promise<string | undefined>
}

/** What an issuer lets a browser bring back. */
export type IssuerResponse = Readonly<Partial<Record<'code' | 'state' | 'iss' | 'error' | 'error_description', string>>>

export interface ConsoleFiles {
  readonly script: string
  /** What the script imports at once. */
  readonly parts: readonly string[]
  readonly style: string
  /** The worker that the pages of a browser share. */
  readonly worker: string
  readonly sandbox: boolean
}

/** An address of the console: `/deliveries` is that of a list, `/deliveries/17` that of one. */
export interface ConsoleAddress {
  /** Its first segment. */
  readonly first: string
  readonly isList: boolean
}

export interface Visitor {
  readonly headers: IncomingHttpHeaders
  readonly isLocal: boolean
  readonly remote_address: string
  readonly trace: string
}

/** The state of the process. */
interface Health {
  findReadiness(): Promise<Readiness>
  /** Why nothing is deleted or given up, and by how many milliseconds the process is ahead of the database. */
  readClock(): { readonly hold: string | undefined; readonly offset: number }
  /** Since when an operator holds what would be sent; undefined: it is sent. */
  sendingHeldSince(): number | undefined
  readMetrics(): Promise<{ readonly contentType: string; readonly text: string }>
}

export interface Readiness {
  /** Why it cannot serve; undefined when it can. */
  readonly reason: string | undefined
  /** Whether that is the database alone, so that every process has the same reason. */
  readonly isOnlyDatabase?: boolean
  /** What it cannot do although it can serve. */
  readonly warning?: string
  /** The error of the database, for the log only. */
  readonly error?: string
}
