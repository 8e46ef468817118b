import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { readDirectory } from './data/directory.ts'
import { ask, base, explain, session, signIn } from './data/http.ts'
import { connection, service, startStreams } from './data/live.ts'
import { KeysHelp, listenToKeys, openHelp } from './keys.tsx'
import { AccessPage } from './pages/access.tsx'
import { CallPage, CallsPage } from './pages/calls.tsx'
import { ConnectPage } from './pages/connect.tsx'
import { DeliveriesPage } from './pages/deliveries.tsx'
import { DeliveryPage } from './pages/delivery.tsx'
import { DocsPage } from './pages/docs.tsx'
import { LivePage } from './pages/live.tsx'
import { PhonePage } from './pages/phone/page.tsx'
import { ResourcePage, ResourcesPage } from './pages/resources.tsx'
import { SandboxPage } from './pages/sandbox.tsx'
import { TracePage } from './pages/trace.tsx'
import { segments } from './router.ts'
import { nextTheme, theme } from './theme.ts'
import { Icon, type IconName, Mark } from './ui/icons.tsx'
import { attempt, IconButton, To, Toast } from './ui/parts.tsx'

const pages: readonly { href: string; name: string; icon: IconName; first: string }[] = [
  { href: '/', name: 'Phones', icon: 'phone', first: '' },
  { href: '/live', name: 'Live', icon: 'live', first: 'live' },
  { href: '/deliveries', name: 'Deliveries', icon: 'deliveries', first: 'deliveries' },
  { href: '/connect', name: 'Connect your app', icon: 'connect', first: 'connect' },
  { href: '/calls', name: 'Calls', icon: 'calls', first: 'calls' },
  { href: '/resources', name: 'Resources', icon: 'resources', first: 'resources' },
  { href: '/sandbox', name: 'Sandbox', icon: 'sandbox', first: 'sandbox' },
  { href: '/access', name: 'Access', icon: 'access', first: 'access' },
  { href: '/docs', name: 'Docs', icon: 'docs', first: 'docs' },
]

export function App() {
  const problem = useSignal<string | undefined>(undefined)
  useEffect(() => {
    // The code of a link stands behind the #, which browsers send to nobody.
    const code = /^#enter=(.+)$/.exec(location.hash)?.[1]
    if (code !== undefined) history.replaceState(null, '', location.pathname)
    signIn(code).catch((error) => {
      problem.value = explain(error)
      if (code !== undefined) void signIn().catch(() => undefined)
    })
    return listenToKeys()
  }, [problem])
  const { value } = session
  // The reference is for everybody, and does not wait for a sign-in.
  if (segments.value[0] === 'docs' && !value?.signed_in) return <Frame />
  if (problem.value !== undefined && !value?.signed_in) return <SignIn problem={problem.value} />
  if (value === undefined) return <p class="wait">Connecting…</p>
  return value.signed_in ? <Console /> : <SignIn problem={undefined} />
}

function Console() {
  useEffect(() => {
    startStreams()
    void readDirectory().catch(() => undefined)
  }, [])
  return <Frame />
}

function Frame() {
  return (
    <div class="frame">
      <a class="skip" href="#main">
        To the page
      </a>
      <nav class="rail" aria-label="Console">
        <To href="/" class="brand" title="Switchboard">
          <Mark />
          <span>Switchboard</span>
        </To>
        <ul>
          {pages
            .filter(({ first }) => first !== 'sandbox' || service.value?.sandbox !== false)
            .map(({ href, name, icon, first }) => (
              <li key={href}>
                <To href={href} current={isCurrent(first)} title={name}>
                  <Icon name={icon} />
                  <span>{name}</span>
                  {first === 'deliveries' && <Waiting />}
                </To>
              </li>
            ))}
        </ul>
        <Foot />
      </nav>
      <main id="main" tabIndex={-1}>
        <Lost />
        <Page />
      </main>
      <Toast />
      <KeysHelp />
    </div>
  )
}

function isCurrent(first: string): boolean {
  const [current = ''] = segments.value
  return current === first || (current === 'traces' && first === 'live')
}

/** What needs somebody to look: subscribers that are down, and deliveries that wait for long. */
function Waiting() {
  const { lanes } = service.value ?? {}
  if (!lanes || lanes.waiting === 0) return null
  const isBad = lanes.down > 0 || (lanes.oldest_age ?? 0) > 60
  return (
    <span class={`count ${isBad ? 'bad' : ''}`}>
      {lanes.waiting}
      <span class="unseen"> waiting</span>
    </span>
  )
}

function Foot() {
  const state = connection.value
  const words = { open: 'Connected', connecting: 'Connecting', lost: 'Not connected' }[state]
  return (
    <div class="foot">
      <p class={`link-state ${state}`}>
        <span class="dot" aria-hidden="true" />
        <span class="words">{words}</span>
      </p>
      <p class="facts soft">
        {service.value && `${service.value.version} · ${service.value.versions.at(-1)} · ${service.value.store}`}
      </p>
      <div class="foot-tools">
        <IconButton icon="theme" label={`Colours: ${theme.value}`} onClick={nextTheme} />
        <IconButton icon="keys" label="Keys" onClick={openHelp} />
        {session.value?.local !== true && (
          <button type="button" class="small" onClick={() => void signOut()}>
            Sign out
          </button>
        )}
      </div>
    </div>
  )
}

async function signOut(): Promise<void> {
  const { token_id } = session.value ?? {}
  if (token_id === undefined) return
  if (await attempt(() => ask('DELETE', `/operator/tokens/${token_id}`))) {
    session.value = { signed_in: false, reason: 'ended' }
  }
}

function Lost() {
  if (connection.value !== 'lost') return null
  return (
    <p class="lost" role="alert">
      The connection is lost. It is tried again by itself, and nothing that happens meanwhile is missed.
    </p>
  )
}

function Page(): ComponentChildren {
  const [first = '', second] = segments.value
  switch (first) {
    case '':
      return <PhonePage />
    case 'live':
      return <LivePage />
    case 'traces':
      return <TracePage key={second} trace={second ?? ''} />
    case 'deliveries':
      return second ? <DeliveryPage key={second} id={second} /> : <DeliveriesPage />
    case 'connect':
      return <ConnectPage />
    case 'calls':
      return second ? <CallPage key={second} id={second} /> : <CallsPage />
    case 'resources':
      return second ? <ResourcePage key={second} id={second} /> : <ResourcesPage />
    case 'sandbox':
      return <SandboxPage />
    case 'access':
      return <AccessPage />
    case 'docs':
      return <DocsPage />
    default:
      return <p class="wait">There is no such page.</p>
  }
}

function SignIn({ problem }: { readonly problem: string | undefined }) {
  return (
    <main class="sign-in">
      <Mark />
      <h1>Switchboard</h1>
      {problem !== undefined && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
      <p>The service is ready. Whoever runs it signs in here by a link that works once:</p>
      <pre>./switchboard console link --for &quot;Ada&quot;</pre>
      <p>
        <a href={`${base}/docs`}>The reference of the API</a>
      </p>
    </main>
  )
}
