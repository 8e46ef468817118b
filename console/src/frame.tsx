import { signal, useSignal } from '@preact/signals'
import { operatorTokensRevoke } from '@switchboard/client/methods'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { findPage, pages } from '../shared/pages.js'
import { followSignUps, readDirectory, repairDirectory } from './data/directory.ts'
import { base, client, explain, isSandbox, renewSession, session, signIn, slowRequests } from './data/http.ts'
import { clockOffset, connection, moveClock, service, startStreams } from './data/live.ts'
import { KeysHelp, listenToKeys, openHelp } from './keys.tsx'
import { go, place, segments } from './router.ts'
import { findRoute } from './routes.tsx'
import { Palette, SearchButton } from './search/palette.tsx'
import { nextTheme, theme } from './theme.ts'
import { Confirmation } from './ui/dialog.tsx'
import { Icon, Mark } from './ui/icons.tsx'
import { useKeptScroll } from './ui/kept-scroll.ts'
import { Head, IconButton, To } from './ui/parts.tsx'
import { writeAhead, writeDayAndTime } from './ui/times.ts'
import { attempt, Toast } from './ui/toast.tsx'

/** Signs in, and says what went wrong. */
const problem = signal<string | undefined>(undefined)

export async function enter(): Promise<void> {
  // The code of a link stands behind the #, which browsers send to nobody.
  const code = /^#enter=(.+)$/.exec(location.hash)?.[1]
  if (code !== undefined) history.replaceState(null, '', location.pathname)
  try {
    await signIn(code)
  } catch (error) {
    problem.value = explain(error)
    if (code !== undefined) await signIn().catch(() => undefined)
  }
}

export function App() {
  useEffect(listenToKeys, [])
  const { value } = session
  // The reference is for everybody, and does not wait for a sign-in.
  if (segments.value[0] === 'docs' && !value?.signed_in) return <Frame />
  if (value === undefined && problem.value === undefined) return <p class="wait">Connecting…</p>
  return value?.signed_in ? <Console /> : <SignIn problem={problem.value} />
}

function Console() {
  useEffect(() => {
    startStreams()
    void readDirectory().catch(() => undefined)
    return followSignUps()
  }, [])
  const isConnected = connection.value === 'open'
  useEffect(() => {
    // How the service is, the stream lets read by itself.
    if (isConnected) void repairDirectory()
  }, [isConnected])
  return <Frame />
}

function Frame() {
  const main = useRef<HTMLElement>(null)
  const isMenuOpen = useSignal(false)
  const { path } = place.value
  useKeptScroll(main)
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever has gone to a page has chosen.
  useEffect(() => {
    isMenuOpen.value = false
  }, [path])
  const current = findPage(segments.value[0] ?? '')
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <nav class={`rail ${isMenuOpen.value ? 'open' : ''}`} aria-label="Console">
        <To href="/" class="brand" title="Switchboard">
          <Mark />
          <span>Switchboard</span>
        </To>
        {session.value?.signed_in !== false && <SearchButton />}
        <button
          type="button"
          class="pages-button"
          aria-expanded={isMenuOpen.value}
          onClick={() => {
            isMenuOpen.value = !isMenuOpen.value
          }}
        >
          <Icon name="menu" />
          <span>{current?.name ?? (segments.value[0] === 'search' ? 'Search' : 'Pages')}</span>
        </button>
        <ul>
          {pages
            .filter(({ first }) => first !== 'sandbox' || isSandbox)
            .map(({ name, icon, first }) => (
              <li key={first}>
                <To href={`/${first}`} current={current?.first === first} title={name}>
                  <Icon name={icon} />
                  <span>{name}</span>
                  {first === 'deliveries' && <Down />}
                </To>
              </li>
            ))}
        </ul>
        <Foot />
      </nav>
      <main id="main" tabIndex={-1} ref={main}>
        <Lost />
        <Disagreement />
        <HeldSending />
        <MovedClock />
        <Page />
      </main>
      <Slow />
      <Toast />
      <Confirmation />
      <Palette />
      <KeysHelp />
    </div>
  )
}

/** What needs somebody to look: subscribers that are down. How many webhooks wait is said there, and is no alarm by itself. */
function Down() {
  const down = service.value?.lanes.down ?? 0
  if (down === 0) return null
  return (
    <span class="count bad" title={`${down} ${down === 1 ? 'subscriber is' : 'subscribers are'} down`}>
      {`${down} down`}
    </span>
  )
}

function Foot() {
  // A stream that is open says nothing of a server that responds to nobody.
  const state = connection.value === 'open' && slowRequests.value > 0 ? 'waiting' : connection.value
  const { signed_in, local } = session.value ?? {}
  // The reference is also read without a session, and then nothing connects.
  const words =
    signed_in === false
      ? 'Not signed in'
      : { open: 'Connected', waiting: 'Waiting', connecting: 'Connecting', lost: 'Not connected' }[state]
  return (
    <div class="foot">
      <p class={`link-state ${state}`}>
        <span class="dot" aria-hidden="true" />
        <span class="words">{words}</span>
      </p>
      <p class="facts soft">
        {service.value && `${service.value.version} · ${service.value.newest_version} · ${service.value.store}`}
      </p>
      <div class="foot-tools">
        <IconButton icon="theme" label={`Colours: ${theme.value}`} onClick={nextTheme} />
        <IconButton icon="keys" label="Keys" onClick={openHelp} />
        {signed_in === true && local !== true && (
          <button type="button" class="small" onClick={() => void signOut()}>
            Sign out
          </button>
        )}
      </div>
    </div>
  )
}

async function signOut(): Promise<void> {
  const { token_id, by_issuer } = session.value ?? {}
  if (token_id === undefined) return
  if (!(await attempt(() => operatorTokensRevoke(client, token_id)))) return
  if (by_issuer === true) location.assign(`${base}/console/sign-out`)
  else await renewSession()
}

function Lost() {
  if (connection.value !== 'lost') return null
  return (
    <p class="lost" role="alert">
      The connection is lost. It is tried again by itself, and nothing that happens meanwhile is missed.
    </p>
  )
}

/** A request that waits says so: otherwise a button that was pressed looks dead. */
function Slow() {
  return (
    <p class="slow" role="status">
      {slowRequests.value > 0 && connection.value !== 'lost' && <span>Waiting for the server…</span>}
    </p>
  )
}

/** Which settings differ between the processes of the service: then what a request does depends on the process that serves it. */
function Disagreement() {
  const differing = (service.value?.processes ?? []).filter((one) => (one.differing_settings ?? []).length > 0)
  if (differing.length === 0) return null
  const names = [...new Set(differing.flatMap((one) => one.differing_settings ?? []))].toSorted()
  const who = differing.length === 1 ? 'Another process has' : `${differing.length} other processes have`
  return (
    <div class="disagreement" role="alert">
      <p>
        {who} different settings: {names.join(', ')}.
      </p>
      <p>
        What a request does depends on the process that serves it. Give all processes the same values, and restart those
        that differ; the log names them.
      </p>
    </div>
  )
}

/** Nothing is sent, although everything else works: otherwise whoever looks searches for the fault at a subscriber. */
function HeldSending() {
  const since = service.value?.sending.held_since
  if (typeof since !== 'string') return null
  return (
    <div class="disagreement" role="alert">
      <p>Sending is held since {writeDayAndTime(new Date(since))}.</p>
      <p>
        Webhooks, codes and fetches of links wait, as after a restore. To send them:{' '}
        <code>./switchboard restored --release</code>
      </p>
    </div>
  )
}

/** A clock that was moved explains much of what one sees, on every page. */
function MovedClock() {
  const ahead = writeAhead(clockOffset.value)
  if (!isSandbox || ahead === undefined) return null
  const setReal = () => attempt(() => moveClock({ real: true }), 'The clock shows the real time.')
  return (
    <p class="moved-clock">
      <span>{`The clock of this sandbox is ${ahead}.`}</span>
      <button type="button" class="small" onClick={() => void setReal()}>
        Real time
      </button>
    </p>
  )
}

function Page(): ComponentChildren {
  if (segments.value[0] === 'sign-in') return <SignedIn />
  return findRoute() ?? <Nowhere />
}

/** The page of a wrong address. */
function Nowhere() {
  return (
    <div class="page">
      <Head title="This page does not exist" lead={`Nothing is at ${place.value.path}.`} />
      <p>
        <To href="/">Phones</To>, <To href="/live">Live</To>, <To href="/deliveries">Deliveries</To> and the other pages
        are in the list of pages.
      </p>
    </div>
  )
}

/** What stands in the address when signing in with an issuer did not work. */
const signInProblems: Readonly<Record<string, string>> = {
  unreachable: 'The issuer cannot be reached at the moment; the log of the service says why. Try again later.',
  refused: 'The issuer and this service do not agree; the log of the service says why.',
  declined: 'The sign-in was declined.',
  stale: 'The sign-in took too long, or was begun in another window. Sign in again.',
  not_allowed: 'Your account may not use this console. Whoever runs the service can allow it.',
}

/** Where one wanted to be, as a query. */
function writeReturn(): string {
  const { path, query } = place.value
  if (path === '/sign-in') return ''
  return `?${new URLSearchParams({ return_to: query.size === 0 ? path : `${path}?${query}` })}`
}

/** The page where one signs in, for whoever is signed in already. */
function SignedIn() {
  useEffect(() => go('/'), [])
  return null
}

function SignIn({ problem: given }: { readonly problem: string | undefined }) {
  const { sign_in_with } = session.value ?? {}
  const problem = given ?? signInProblems[place.value.query.get('problem') ?? '']
  return (
    <main class="sign-in">
      <Mark />
      <h1>Switchboard</h1>
      {problem !== undefined && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
      {sign_in_with === undefined ? (
        <>
          <p>The service is ready. To sign in, the operator creates a link that works once:</p>
          <pre>./switchboard console link --for &quot;Ada&quot;</pre>
        </>
      ) : (
        <p>
          <a class="main" href={`${base}/console/sign-in${writeReturn()}`}>
            Sign in with {sign_in_with}
          </a>
        </p>
      )}
      <p>
        <a href={`${base}/docs`}>API reference</a>
      </p>
    </main>
  )
}
