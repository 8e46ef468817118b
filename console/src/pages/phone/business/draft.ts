import type { Template } from '@switchboard/client/methods'
import { toTemplate, type Values } from './draft-template.ts'

export const kinds = {
  text: 'Text',
  template: 'Template',
  media: 'Picture or file',
  buttons: 'Buttons',
  list: 'List',
} as const
export type Kind = keyof typeof kinds

export interface DraftRow {
  readonly title: string
  readonly description: string
}

/** A message of a business while it is being written. */
export interface Draft {
  readonly kind: Kind
  readonly text: string
  /** The address of a file; empty when one is uploaded. */
  readonly link: string
  readonly file: File | undefined
  readonly buttons: readonly string[]
  /** The word on the button that opens a list. */
  readonly listButton: string
  readonly rows: readonly DraftRow[]
  readonly template: Template | undefined
  /** The variables of the template, by their keys. */
  readonly values: Values
}

export const emptyDraft: Draft = {
  kind: 'text',
  text: '',
  link: '',
  file: undefined,
  buttons: ['Yes', 'No'],
  listButton: 'Choose',
  rows: [
    { title: 'Morning', description: '8 to 12' },
    { title: 'Afternoon', description: '12 to 18' },
  ],
  template: undefined,
  values: {},
}

export type Content = { readonly type: string } & Readonly<Record<string, unknown>>

/**
 * The message as the API takes it; undefined while something is missing. `mediaId` is that of the uploaded file, `now` the time of the
 * service.
 */
export function toContent(draft: Draft, mediaId = '', now = 0): Content | undefined {
  const text = draft.text.trim()
  switch (draft.kind) {
    case 'text':
      return text === '' ? undefined : { type: 'text', text: { body: text } }
    case 'media':
      return toMedia(draft, text, mediaId)
    case 'buttons': {
      const titles = draft.buttons.map((title) => title.trim()).filter((title) => title !== '')
      if (text === '' || titles.length === 0) return undefined
      const buttons = titles.map((title, at) => ({ type: 'reply', reply: { id: `button-${at + 1}`, title } }))
      return toInteractive('button', text, { buttons })
    }
    case 'list': {
      const rows = draft.rows.filter(({ title }) => title.trim() !== '').map(toRow)
      if (text === '' || rows.length === 0 || draft.listButton.trim() === '') return undefined
      return toInteractive('list', text, { button: draft.listButton.trim(), sections: [{ rows }] })
    }
    default:
      return draft.template && toTemplate(draft.template, draft.values, now)
  }
}

function toRow({ title, description }: DraftRow, at: number) {
  return {
    id: `row-${at + 1}`,
    title: title.trim(),
    ...(description.trim() !== '' && { description: description.trim() }),
  }
}

function toInteractive(type: string, text: string, action: object): Content {
  return { type: 'interactive', interactive: { type, body: { text }, action } }
}

function toMedia({ link, file }: Draft, caption: string, mediaId: string): Content | undefined {
  if (link === '' && !file) return undefined
  const name = file?.name ?? link.split(/[?#]/)[0] ?? ''
  const type = typeOfName(name)
  const source = file ? { id: mediaId } : { link }
  const named = type === 'document' ? { filename: name.split('/').at(-1) } : {}
  const captioned = caption === '' || type === 'audio' || type === 'sticker' ? {} : { caption }
  return { type, [type]: { ...source, ...named, ...captioned } }
}

const endings: Readonly<Record<string, string>> = {
  ...{ png: 'image', jpg: 'image', jpeg: 'image', webp: 'sticker' },
  ...{ mp4: 'video', '3gp': 'video', mp3: 'audio', ogg: 'audio', aac: 'audio', amr: 'audio', m4a: 'audio' },
}

function typeOfName(name: string): string {
  return endings[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'document'
}
