import { useSignal } from '@preact/signals'
import { phoneNumbersRetrieve } from '@switchboard/client/methods'
import { digitsOf, version } from '../../../data/directory.ts'
import { base, client, isSandbox } from '../../../data/http.ts'
import type { PhoneNumber } from '../../../data/types.ts'
import { Code } from '../../../ui/parts.tsx'
import { writeDigits } from '../summarize.ts'

const demoToken = 'demo-token'

/** Whether the demo world is there, whose token is no secret. */
async function hasDemoToken(number: string): Promise<boolean> {
  if (!isSandbox) return false
  const options = { token: demoToken, version: version(), maxRetries: 0 }
  return phoneNumbersRetrieve(client.withOptions(options), number, { fields: 'id' }).then(
    () => true,
    () => false,
  )
}

/** The same message from a terminal, with a token that works or a place for one. */
export function AsCurl({ number, json }: { readonly number: PhoneNumber; readonly json: object }) {
  const isDemo = useSignal<boolean | undefined>(undefined)
  const token = isDemo.value ? demoToken : '$TOKEN'
  const body = JSON.stringify(json).replaceAll("'", "'\\''")
  const url = `${location.origin}${base}/${version()}/${number.id}/messages`
  return (
    <details
      class="as-curl"
      onToggle={(event) => {
        if (!event.currentTarget.open || isDemo.value !== undefined) return
        void hasDemoToken(number.id).then((isFound) => {
          isDemo.value = isFound
        })
      }}
    >
      <summary>Send from a terminal</summary>
      <Code
        label={`From ${writeDigits(digitsOf(number))}`}
        text={`curl -H "Authorization: Bearer ${token}" -H 'Content-Type: application/json' \\\n  -d '${body}' \\\n  '${url}'`}
      />
      {isDemo.value === false && (
        <p class="soft">Set TOKEN to a token of an app of the business; the page Access makes one.</p>
      )}
    </details>
  )
}
