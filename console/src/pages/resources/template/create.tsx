import { useSignal } from '@preact/signals'
import {
  type NewTemplateComponent,
  type TemplateCategory,
  type TemplateLanguage,
  templatesCreate,
} from '@switchboard/client/methods'
import { explain } from '../../../data/http.ts'
import type { Node } from '../../../data/types.ts'
import { go } from '../../../router.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/parts.tsx'
import { actFor } from '../acting.ts'
import { nameValue } from '../words.ts'
import { TemplateBubble } from './bubble.tsx'
import { makeExamples } from './preview.ts'

const categories: readonly TemplateCategory[] = ['UTILITY', 'MARKETING']

interface Draft {
  readonly name: string
  readonly language: string
  readonly category: TemplateCategory
  readonly header: string
  readonly body: string
  readonly footer: string
  /** One quick reply a line. */
  readonly replies: string
}

const empty: Draft = {
  ...{ name: '', language: 'en_US', category: 'UTILITY', header: '', footer: '', replies: '' },
  body: 'Hello {{1}}, your order is ready.',
}

function composeComponents({ header, body, footer, replies }: Draft): NewTemplateComponent[] {
  const buttons = replies
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((text) => ({ type: 'QUICK_REPLY' as const, text }))
  const [headerExamples, bodyExamples] = [makeExamples(header), makeExamples(body)]
  return [
    ...(header === ''
      ? []
      : [
          {
            ...{ type: 'HEADER' as const, format: 'TEXT' as const, text: header },
            ...(headerExamples.length > 0 && { example: { header_text: headerExamples } }),
          },
        ]),
    { type: 'BODY', text: body, ...(bodyExamples.length > 0 && { example: { body_text: [bodyExamples] } }) },
    ...(footer === '' ? [] : [{ type: 'FOOTER' as const, text: footer }]),
    ...(buttons.length === 0 ? [] : [{ type: 'BUTTONS' as const, buttons }]),
  ]
}

/** On a small screen the end of the form is not in view. */
function reveal(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}

/** A template of text and quick replies; others are created by the API. */
export function CreateTemplate({ node, onClose }: { readonly node: Node; readonly onClose: () => void }) {
  const draft = useSignal(empty)
  const problem = useSignal<string | undefined>(undefined)
  const { name, language, category } = draft.value
  const set = (changes: Partial<Draft>) => {
    draft.value = { ...draft.value, ...changes }
  }
  const create = async () => {
    problem.value = undefined
    try {
      const components = composeComponents(draft.value)
      const params = { name, language: language as TemplateLanguage, category, components }
      const { id } = await templatesCreate(await actFor(node), node.id, params)
      onClose()
      go(`/resources/${id}`)
    } catch (error) {
      problem.value = explain(error)
    }
  }
  const text = (label: string, member: 'header' | 'footer' | 'name' | 'language', hint?: string) => (
    <Field label={label} {...(hint !== undefined && { hint })}>
      <input
        dir="auto"
        value={draft.value[member]}
        required={member === 'name' || member === 'language'}
        onInput={(event) => set({ [member]: event.currentTarget.value })}
      />
    </Field>
  )
  return (
    <Dialog title="Create a template" onClose={onClose} wide>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <div class="two">
          <div class="form">
            {text('Name', 'name', 'Small letters, digits and underscores.')}
            {text('Language', 'language', 'A code such as en_US or ar.')}
            <Field label="Category">
              <select
                value={category}
                onChange={(event) => set({ category: event.currentTarget.value as TemplateCategory })}
              >
                {categories.map((one) => (
                  <option key={one} value={one}>
                    {nameValue(one)}
                  </option>
                ))}
              </select>
            </Field>
            {text('Header', 'header')}
            <Field label="Body" hint="{{1}}, {{2}} … are values that each message brings.">
              <textarea
                rows={4}
                required
                dir="auto"
                value={draft.value.body}
                onInput={(event) => set({ body: event.currentTarget.value })}
              />
            </Field>
            {text('Footer', 'footer')}
            <Field label="Quick replies" hint="One a line.">
              <textarea
                rows={2}
                dir="auto"
                value={draft.value.replies}
                onInput={(event) => set({ replies: event.currentTarget.value })}
              />
            </Field>
          </div>
          <TemplateBubble components={composeComponents(draft.value)} />
        </div>
        {problem.value !== undefined && (
          <p class="bad" role="alert" ref={reveal}>
            {problem.value}
          </p>
        )}
        <button type="submit" class="main">
          Create template
        </button>
      </form>
    </Dialog>
  )
}
