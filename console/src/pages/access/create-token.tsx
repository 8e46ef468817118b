import { useSignal } from '@preact/signals'
import { operatorTokensCreate } from '@switchboard/client/methods'
import { apps } from '../../data/directory.ts'
import { client, explain } from '../../data/http.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { CopyButton, Field } from '../../ui/parts.tsx'

const scopes = [
  ['msgapp_business_management', 'Manage accounts and numbers'],
  ['msgapp_business_messaging', 'Send messages and call'],
  ['business_management', 'Onboard businesses'],
  ['gateway', "Act for the users' phones"],
  ['operator', 'See and run everything'],
] as const

interface CreateTokenProps {
  readonly onCreated: () => void
  readonly onClose: () => void
}

export function CreateToken({ onCreated, onClose }: CreateTokenProps) {
  const created = useSignal<string | undefined>(undefined)
  return (
    <Dialog title="Create a token" onClose={onClose}>
      {created.value === undefined ? (
        <TokenForm
          onCreated={(token) => {
            created.value = token
            onCreated()
          }}
        />
      ) : (
        <>
          <p>Copy the secret now; it is shown only once:</p>
          <p class="row">
            <code class="grow break">{created.value}</code>
            <CopyButton text={created.value} />
          </p>
        </>
      )}
    </Dialog>
  )
}

function TokenForm({ onCreated }: { readonly onCreated: (token: string) => void }) {
  const problem = useSignal<string | undefined>(undefined)
  const create = async (form: FormData) => {
    const expires = String(form.get('expires'))
    const name = String(form.get('name')).trim()
    problem.value = undefined
    try {
      const { token } = await operatorTokensCreate(client, {
        app_id: String(form.get('app')),
        scopes: form.getAll('scope').map(String),
        ...(expires !== '' && { expires }),
        ...(name !== '' && { name }),
      })
      onCreated(token)
    } catch (error) {
      problem.value = explain(error)
    }
  }
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void create(new FormData(event.currentTarget))
      }}
    >
      <Field label="Name" hint="What it is for, such as the program that uses it.">
        <input name="name" maxLength={100} dir="auto" />
      </Field>
      <Field label="App">
        <select name="app" class="narrow" dir="auto">
          {apps.value.map(({ id, name }) => (
            <option key={id} value={id}>
              {name ?? id}
            </option>
          ))}
        </select>
      </Field>
      <fieldset>
        <legend>Permissions</legend>
        <div class="checks">
          {scopes.map(([scope, words], index) => (
            <label class="check" key={scope}>
              <input type="checkbox" name="scope" value={scope} defaultChecked={index < 2} />
              {words}
            </label>
          ))}
        </div>
      </fieldset>
      <Field
        label="Expires after"
        hint="Such as 12h or 60d. Empty: never, but with the last two permissions when this session ends."
      >
        <input name="expires" value="60d" />
      </Field>
      <button type="submit" class="main">
        Create token
      </button>
      {problem.value !== undefined && (
        <p class="bad" role="alert">
          {problem.value}
        </p>
      )}
    </form>
  )
}
