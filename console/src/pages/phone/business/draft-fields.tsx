import { templatesList } from '@switchboard/client/methods'
import type { ComponentChildren } from 'preact'
import { clientForAccount } from '../../../data/directory.ts'
import { Loaded, useLoaded } from '../../../ui/load/loaded.tsx'
import { Field } from '../../../ui/parts.tsx'
import { RichText } from '../content/rich-text.tsx'
import type { Draft, DraftRow } from './draft.ts'
import { fill, findOffer, listCards, listVariables, type Parts, type Values } from './draft-template.ts'

interface Props {
  readonly draft: Draft
  readonly account: string
  readonly onChange: (changes: Partial<Draft>) => void
}

/** What is filled in for each kind of message. */
export function DraftFields({ draft, account, onChange }: Props): ComponentChildren {
  switch (draft.kind) {
    case 'text':
      return <Body label="Message from the business" draft={draft} onChange={onChange} />
    case 'media':
      return <MediaFields draft={draft} onChange={onChange} />
    case 'buttons':
      return (
        <>
          <Body label="Text" draft={draft} onChange={onChange} />
          <div class="row">
            {[0, 1, 2].map((at) => (
              <Field key={at} label={`Button ${at + 1}`}>
                <input
                  maxLength={20}
                  dir="auto"
                  value={draft.buttons[at] ?? ''}
                  onInput={({ currentTarget }) =>
                    onChange({ buttons: replaceAt(draft.buttons, at, currentTarget.value, '') })
                  }
                />
              </Field>
            ))}
          </div>
        </>
      )
    case 'list':
      return <ListFields draft={draft} onChange={onChange} />
    default:
      return <TemplateFields draft={draft} account={account} onChange={onChange} />
  }
}

type PartProps = Omit<Props, 'account'>

function replaceAt<T>(all: readonly T[], at: number, value: T, filler: T): readonly T[] {
  return Array.from({ length: Math.max(all.length, at + 1) }, (_, index) =>
    index === at ? value : (all[index] ?? filler),
  )
}

function Body({ label, draft, onChange }: PartProps & { readonly label: string }) {
  return (
    <Field label={label}>
      <textarea
        rows={1}
        dir="auto"
        maxLength={4096}
        value={draft.text}
        placeholder="Your ferns are here."
        onInput={({ currentTarget }) => onChange({ text: currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          event.currentTarget.form?.requestSubmit()
        }}
      />
    </Field>
  )
}

function MediaFields({ draft, onChange }: PartProps) {
  return (
    <>
      <div class="row">
        <Field label="File">
          <input type="file" onChange={({ currentTarget }) => onChange({ file: currentTarget.files?.[0], link: '' })} />
        </Field>
        <Field label="Or its address">
          <input
            type="url"
            value={draft.link}
            placeholder="https://…/fern.png"
            onInput={({ currentTarget }) => onChange({ link: currentTarget.value, file: undefined })}
          />
        </Field>
      </div>
      <Body label="Caption" draft={draft} onChange={onChange} />
    </>
  )
}

const mostRows = 4
const emptyRow: DraftRow = { title: '', description: '' }

function ListFields({ draft, onChange }: PartProps) {
  const setRow = (at: number, changes: Partial<DraftRow>) =>
    onChange({ rows: replaceAt(draft.rows, at, { ...(draft.rows[at] ?? emptyRow), ...changes }, emptyRow) })
  return (
    <>
      <Body label="Text" draft={draft} onChange={onChange} />
      <Field label="Button that opens the list">
        <input
          maxLength={20}
          dir="auto"
          value={draft.listButton}
          onInput={({ currentTarget }) => onChange({ listButton: currentTarget.value })}
        />
      </Field>
      {Array.from({ length: mostRows }, (_, at) => (
        <div key={at} class="row">
          <Field label={`Row ${at + 1}`}>
            <input
              maxLength={24}
              dir="auto"
              value={draft.rows[at]?.title ?? ''}
              onInput={({ currentTarget }) => setRow(at, { title: currentTarget.value })}
            />
          </Field>
          <Field label="Description">
            <input
              maxLength={72}
              dir="auto"
              value={draft.rows[at]?.description ?? ''}
              onInput={({ currentTarget }) => setRow(at, { description: currentTarget.value })}
            />
          </Field>
        </div>
      ))}
    </>
  )
}

function TemplateFields({ draft, account, onChange }: Props) {
  const templates = useLoaded(account, async () => {
    const { data } = await templatesList(await clientForAccount(account), account, { status: 'APPROVED', limit: 100 })
    return data
  })
  const { template, values } = draft
  return (
    <Loaded
      of={templates}
      what="the templates"
      isEmpty={(all) => all.length === 0}
      empty={<p class="soft">This account has no approved template.</p>}
    >
      {(all) => (
        <>
          <Field label="Template">
            <select
              value={template?.id ?? ''}
              onChange={({ currentTarget }) => {
                const chosen = all.find(({ id }) => id === currentTarget.value)
                const examples = chosen ? listVariables(chosen).map(({ key, example }) => [key, example]) : []
                onChange({ template: chosen, values: Object.fromEntries(examples) })
              }}
            >
              <option value="">Choose one</option>
              {all.map(({ id, name, language }) => (
                <option key={id} value={id}>{`${name}, ${language}`}</option>
              ))}
            </select>
          </Field>
          {template && (
            <div class="row">
              {listVariables(template).map(({ key, label }) => (
                <Field key={key} label={label}>
                  <input
                    dir="auto"
                    value={values[key] ?? ''}
                    onInput={({ currentTarget }) => onChange({ values: { ...values, [key]: currentTarget.value } })}
                  />
                </Field>
              ))}
            </div>
          )}
          {template && <Preview draft={draft} />}
        </>
      )}
    </Loaded>
  )
}

/** The template as the user will see it. */
function Preview({ draft: { template, values } }: { readonly draft: Draft }) {
  if (!template) return null
  const offer = findOffer(template)
  return (
    <figure class="preview" aria-label="Preview">
      {offer && (
        <p dir="auto">
          <b>{offer.text}</b>
        </p>
      )}
      <PreviewParts parts={{ components: template.components ?? [], prefix: '' }} values={values} />
      {listCards(template).map((parts) => (
        <blockquote key={parts.prefix}>
          <PreviewParts parts={parts} values={values} />
        </blockquote>
      ))}
    </figure>
  )
}

/** What a template and a card of it have alike. */
function PreviewParts({ parts, values }: { readonly parts: Parts; readonly values: Values }) {
  const { components, prefix } = parts
  const find = (type: string) => components.find((part) => part.type === type)
  const header = find('HEADER')?.text
  const footer = find('FOOTER')?.text
  return (
    <>
      {header && (
        <p dir="auto">
          <b>{fill(header, `${prefix}header`, values)}</b>
        </p>
      )}
      <RichText body={fill(find('BODY')?.text ?? '', `${prefix}body`, values)} />
      {footer && (
        <p class="soft" dir="auto">
          {footer}
        </p>
      )}
      {(find('BUTTONS')?.buttons ?? []).map(({ text, type }, at) => (
        <p key={at} class="preview-button" dir="auto">
          {text ?? type}
        </p>
      ))}
    </>
  )
}
