import { Type } from 'typebox'
import { isStateOfPerson } from '../../auth/sign-in-state.ts'
import type { Chapter } from '../../chapter.ts'
import type { OpenContext } from '../../graph/context.ts'
import { defineOpen, defineOpenPost } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import type { Visitor } from '../../graph/ports.ts'
import type { Reply } from '../../graph/reply.ts'
import { composeSignInError, finishAtIssuer } from '../sign-up/public.ts'

const page = { 'text/html': Type.String({ contentMediaType: 'text/html' }) }
const nothing = Type.Object({})

/** The console: pages for people who build with the service or run it, and how they sign in. */
export const consoleChapter: Chapter = {
  name: 'console',
  title: 'The console',
  rows: consoleOperations,
}

/** Every address of the console, so that a link opens what it names. */
const pages = [
  ['start', '/', "Shows the console: the users' phones beside what the business sees; without it the start page."],
  ['live', '/live', 'Shows everything that happens, as it happens.'],
  ['trace', '/traces/{trace}', 'Shows all that one request set off.'],
  ['deliveries', '/deliveries', 'Shows the log of webhooks and the health of their subscribers.'],
  ['delivery', '/deliveries/{delivery}', 'Shows one webhook with every attempt.'],
  ['search', '/search', 'Shows what a search found, over everything that is kept.'],
  ['connect', '/connect', 'Shows how to connect an app, and tests the connection.'],
  ['calls', '/calls', 'Shows the calls.'],
  ['call', '/calls/{call}', 'Shows one call with the descriptions of both sides.'],
  ['resources', '/resources', 'Shows what is in the store.'],
  ['resource', '/resources/{id}', 'Shows one object of the store.'],
  ['sandbox', '/sandbox', 'Shows the tools of a sandbox: clock, faults, snapshots.'],
  ['access', '/access', 'Shows tokens, sessions and who did what.'],
  ['sign_in_page', '/sign-in', 'Shows how to sign in, or why that failed.'],
] as const

function consoleOperations(): NewReplyOperation[] {
  return [
    ...pages.map(([name, path, sentence]) =>
      defineOpen({
        name: `public.${name}`,
        path,
        sentence,
        input: inputOf(path),
        examples: { output: undefined, ...(path.includes('{') && { input: exampleOf(path) }) },
        content: page,
        repeated: 'whole',
        run: (context) => showConsole(context, path),
      }),
    ),
    defineOpen({
      name: 'public.console_file',
      path: '/console/{file}',
      sentence: "Sends the console's script or style.",
      input: Type.Object({ file: Type.String({ description: 'The name of the file.' }) }),
      examples: { input: { file: 'main.js' }, output: undefined },
      content: { 'text/javascript': Type.String(), 'text/css': Type.String() },
      missing: 'envelope',
      errors: [400, 403, 404, 429, 500],
      async run({ ports, headers }, { file }) {
        const found = await ports.console.file(file, headers)
        if (!found) throw notFound()
        return found
      },
    }),
    defineOpenPost({
      name: 'public.sign_in',
      path: '/console/session',
      sentence:
        'Signs in to the console: by the code of a link in the header X-Console-Code, or without anything on the machine of a sandbox; says who is signed in.',
      input: nothing,
      examples: { output: undefined },
      content: { 'application/json': sessionSchema },
      run: (context) => context.ports.console.signIn(visitorOf(context)),
    }),
    defineOpen({
      name: 'public.begin_sign_in',
      path: '/console/sign-in',
      sentence:
        'Sends a browser to the issuer of OIDC_ISSUER, to sign in there; without one to the page that says how to sign in.',
      input: Type.Object({
        return_to: Type.Optional(
          Type.String({ maxLength: 4096, description: 'The page of the console to go on with.' }),
        ),
      }),
      examples: { output: undefined },
      content: page,
      redirects: true,
      run: (context, { return_to }) => context.ports.console.beginSignIn(visitorOf(context), return_to),
    }),
    defineOpen({
      name: 'public.finish_sign_in',
      path: '/console/sign-in/callback',
      sentence:
        'Where a browser comes back from the issuer: begins a session of the console, or goes on with the dialog of a sign-up.',
      input: Type.Object({
        code: Type.Optional(
          Type.String({ maxLength: 8192, description: 'What the issuer gave, to be exchanged for who it is.' }),
        ),
        state: Type.Optional(Type.String({ maxLength: 512, description: 'What the sign-in was begun with.' })),
        iss: Type.Optional(Type.String({ maxLength: 2048, description: 'The issuer.' })),
        error: Type.Optional(Type.String({ maxLength: 512, description: 'Why the issuer refused.' })),
        error_description: Type.Optional(Type.String({ maxLength: 8192, description: 'The same for people.' })),
      }),
      examples: { output: undefined },
      content: page,
      redirects: true,
      unready: page,
      errorPage: composeSignInError,
      run: (context, response) =>
        isStateOfPerson(response.state)
          ? finishAtIssuer(context, response)
          : context.ports.console.finishSignIn(visitorOf(context), response),
    }),
    defineOpen({
      name: 'public.sign_out',
      path: '/console/sign-out',
      sentence: 'Sends a browser whose session of the console has ended to the issuer, to sign out there too.',
      input: nothing,
      examples: { output: undefined },
      content: page,
      redirects: true,
      run: (context) => context.ports.console.signOut(visitorOf(context)),
    }),
  ]
}

const sessionSchema = Type.Object({
  signed_in: Type.Boolean(),
  name: Type.Optional(Type.String({ description: 'Who is signed in.' })),
  token_id: Type.Optional(Type.String({ description: 'By which the session is listed and ended like a token.' })),
  expires_time: Type.Optional(Type.String({ format: 'date-time' })),
  proof: Type.Optional(Type.String({ description: 'What every write carries in the header X-Console-Proof.' })),
  local: Type.Optional(Type.Boolean({ description: 'Whether no sign-in is needed here.' })),
  limited: Type.Optional(Type.Boolean({ description: 'Whether only some tenants are seen.' })),
  reason: Type.Optional(Type.String({ description: 'Why nobody is signed in.' })),
  sign_in_with: Type.Optional(Type.String({ description: 'The issuer to sign in with, at /console/sign-in.' })),
  by_issuer: Type.Optional(
    Type.Boolean({ description: 'Whether it was signed in by an issuer: /console/sign-out also signs out there.' }),
  ),
})

function visitorOf({ headers, isLocal, remote_address, trace }: OpenContext): Visitor {
  return { headers, isLocal, remote_address, trace }
}

async function showConsole(context: OpenContext, path: string): Promise<Reply> {
  const { ports, mayUseDemo } = context
  const [, first = '', second] = path.split('/')
  const shown = await ports.console.page(visitorOf(context), { first, isList: second === undefined })
  return typeof shown === 'string' ? ports.documents.start(mayUseDemo, shown) : shown
}

function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
}

function inputOf(path: string) {
  return Type.Object(
    Object.fromEntries(
      namesIn(path).map((name) => [
        name,
        Type.String({ description: `Which ${name === 'id' ? 'object' : name} to show.` }),
      ]),
    ),
  )
}

function exampleOf(path: string) {
  return Object.fromEntries(namesIn(path).map((name) => [name, '1']))
}
