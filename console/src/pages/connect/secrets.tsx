import { type Signal, useSignal } from '@preact/signals'
import { operatorAppSecretsRotate } from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import { client, isSandbox } from '../../data/http.ts'
import { confirmAction } from '../../ui/dialog.tsx'
import { useLatest } from '../../ui/hooks.ts'
import { CopyButton, Field } from '../../ui/parts.tsx'
import { attempt } from '../../ui/toast.tsx'
import { readAppSecrets } from './connection.ts'
import { drawVerifyToken, findVerifyToken, keepVerifyToken } from './verify-token.ts'

export interface Secrets {
  /** Undefined until it has been read. */
  readonly secret: Signal<string | undefined>
  /** What the next handshake sends. */
  readonly verifyToken: Signal<string>
  /** What the app is subscribed with, as far as that is known. */
  readonly ownVerifyToken: Signal<string | undefined>
  /** Whether they are shown in clear. */
  readonly isShown: Signal<boolean>
  readonly read: () => Promise<boolean>
}

/** The secrets of an app. Without a verify token that somebody chose in this browser it is the one that the app has. */
export function useSecrets(app: string): Secrets {
  const secret = useSignal<string | undefined>(undefined)
  const verifyToken = useSignal(findVerifyToken(app) ?? '')
  const ownVerifyToken = useSignal<string | undefined>(undefined)
  const isShown = useSignal(false)
  const read = useLatest(() =>
    attempt(async () => {
      const found = await readAppSecrets(app)
      secret.value = found.secret
      ownVerifyToken.value = found.verifyToken
    }),
  )
  useEffect(() => {
    const begin = async () => {
      // Elsewhere secrets are read only when somebody asks for them.
      if (isSandbox) await read()
      if (verifyToken.peek() !== '') return
      verifyToken.value = ownVerifyToken.peek() ?? drawVerifyToken()
      keepVerifyToken(app, verifyToken.peek())
    }
    void begin()
  }, [app, read, verifyToken, ownVerifyToken])
  return { secret, verifyToken, ownVerifyToken, isShown, read }
}

/** As many dots for every secret: its length is nobody's business. */
export const hidden = '••••••••••••'

export function SecretsStep({ app, secrets }: { readonly app: string; readonly secrets: Secrets }) {
  const { secret, verifyToken, ownVerifyToken, isShown, read } = secrets
  const reveal = async () => {
    if (secret.value === undefined && !(await read())) return
    isShown.value = !isShown.value
  }
  const renew = async () => {
    const isAgreed = await confirmAction({
      title: 'Create a new app secret?',
      text: 'Webhooks are signed with both secrets for a day. Give the new secret to your receiver within that time: then the old secret becomes invalid.',
      action: 'Create a new secret',
    })
    if (!isAgreed) return
    await attempt(async () => {
      const { secret: created } = await operatorAppSecretsRotate(client, app, {})
      secret.value = created
    }, 'The app has a new secret. The old secret stays valid for a day.')
  }
  const isOther = ownVerifyToken.value !== undefined && ownVerifyToken.value !== verifyToken.value
  return (
    <li class="card">
      <h2>App secret and verify token</h2>
      <p>
        The app secret signs every webhook, so that your app knows that it comes from here. The verify token is yours to
        choose: the handshake sends it to your receiver, which accepts no other.
      </p>
      <div class="secret">
        <span class="secret-name">App secret</span>
        <code>{isShown.value ? (secret.value ?? 'unknown') : hidden}</code>
        {secret.value !== undefined && <CopyButton text={secret.value} />}
        <button type="button" class="small" onClick={() => void renew()}>
          Create a new secret
        </button>
      </div>
      <Field
        label="Verify token"
        hint={
          isOther
            ? 'The app is subscribed with another verify token now; subscribing replaces it.'
            : 'Kept in this browser for this app.'
        }
      >
        <input
          class="mono"
          {...(isShown.value ? { type: 'text' as const } : { type: 'password' as const })}
          autocomplete="off"
          spellcheck={false}
          maxLength={255}
          required
          value={verifyToken.value}
          onInput={(event) => {
            verifyToken.value = event.currentTarget.value
            keepVerifyToken(app, verifyToken.value)
          }}
        />
      </Field>
      <p class="row">
        <button type="button" aria-pressed={isShown.value} onClick={() => void reveal()}>
          {isShown.value ? 'Hide' : 'Reveal'}
        </button>
        <CopyButton text={verifyToken.value} label="Copy the verify token" />
      </p>
    </li>
  )
}
