import { useSignal } from '@preact/signals'
import { operatorWorldApply, operatorWorldExport } from '@switchboard/client/methods'
import { readDirectory } from '../../data/directory.ts'
import { client, explain } from '../../data/http.ts'
import { Code, Field } from '../../ui/parts.tsx'
import { attempt, say } from '../../ui/toast.tsx'

export function World() {
  const text = useSignal<string | undefined>(undefined)
  const show = () =>
    attempt(async () => {
      const exported = await operatorWorldExport(client, { headers: { accept: 'application/yaml' } })
      text.value = await exported.text()
    })
  return (
    <section class="card wide-card">
      <h2>World file</h2>
      <div class="row">
        <button type="button" onClick={() => void show()}>
          Show the store as a file
        </button>
      </div>
      {text.value !== undefined && <Code label="world.yaml" text={text.value} />}
      <Apply />
    </section>
  )
}

function Apply() {
  const part = useSignal('')
  const problem = useSignal<string | undefined>(undefined)
  const apply = async () => {
    problem.value = undefined
    try {
      const { created, updated } = await operatorWorldApply(client, part.value, {
        headers: { 'content-type': 'application/yaml' },
      })
      await readDirectory()
      say(`The world is applied: ${created} created, ${updated} updated.`)
    } catch (error) {
      problem.value = explain(error)
    }
  }
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void apply()
      }}
    >
      <Field label="A whole file, or a part of one">
        <textarea
          class="mono"
          rows={6}
          required
          placeholder={'users:\n  - wa_id: "16505550123"\n    name: Grace'}
          value={part.value}
          onInput={(event) => {
            part.value = event.currentTarget.value
          }}
        />
      </Field>
      <button type="submit" class="main">
        Apply
      </button>
      {problem.value !== undefined && (
        <p class="bad break" role="alert">
          {problem.value}
        </p>
      )}
    </form>
  )
}
