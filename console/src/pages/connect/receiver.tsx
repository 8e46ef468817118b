import { useSignal } from '@preact/signals'
import { Code } from '../../ui/parts.tsx'
import { hidden, type Secrets } from './secrets.tsx'
import { quoteForShell, receiverPort, snippets } from './snippets.ts'

/** A receiver to copy, and the line that starts it. */
export function Receiver({ secrets }: { readonly secrets: Secrets }) {
  const chosen = useSignal(0)
  const snippet = snippets[chosen.value] ?? snippets[0]
  if (!snippet) return null
  const write = (secret: string, verifyToken: string) =>
    `APP_SECRET=${quoteForShell(secret)} VERIFY_TOKEN=${quoteForShell(verifyToken)} ${snippet.command}`
  const whole = write(secrets.secret.value ?? 'the app secret', secrets.verifyToken.value)
  return (
    <li class="card">
      <h2>A receiver</h2>
      <fieldset class="tabs" aria-label="Language">
        {snippets.map(({ name }, index) => (
          <button
            type="button"
            key={name}
            aria-pressed={index === chosen.value}
            onClick={() => {
              chosen.value = index
            }}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <Code label={`Save as ${snippet.file}`} text={snippet.text} />
      <Code label="Start it" text={secrets.isShown.value ? whole : write(hidden, hidden)} copied={whole} />
      <p class="soft">
        {snippet.name === 'PHP'
          ? `It listens on port ${receiverPort}; the line that starts it names the port.`
          : `It listens on port ${receiverPort}; RECEIVER_PORT sets another.`}
      </p>
    </li>
  )
}
