import { escapeHtml } from '../../../replies/page.ts'
import type { Choice, Choices } from './choices.ts'
import { writeName } from './frame.ts'

/** What was typed into a form that was refused, and why. */
export interface Refused {
  readonly values: Readonly<Record<string, string | undefined>>
  /** By the name of the field; the empty name: of the form as a whole. */
  readonly problems: Readonly<Record<string, string>>
  /** The form that was sent. */
  readonly form: string
}

export interface FieldOptions {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly attributes?: string
  readonly refused: Refused | undefined
}

/** A field with its label, and what is wrong with it; what was typed stays. */
export function writeField({ name, label, hint, attributes = '', refused }: FieldOptions): string {
  const wrong = refused?.problems[name]
  const described = [hint !== undefined && `${name}-hint`, wrong !== undefined && `${name}-wrong`].filter(Boolean)
  const value = refused?.values[name] ?? ''
  return `<label class="field"><b>${escapeHtml(label)}</b>
${hint === undefined ? '' : `<small id="${name}-hint">${escapeHtml(hint)}</small>`}
<input name="${name}" value="${escapeHtml(value)}" required ${attributes}${described.length > 0 ? ` aria-describedby="${described.join(' ')}"` : ''}${wrong === undefined ? '' : ' aria-invalid="true" autofocus'}>
${wrong === undefined ? '' : `<span class="wrong" id="${name}-wrong">${escapeHtml(wrong)}</span>`}</label>`
}

export interface FormOptions {
  readonly action: string
  readonly ticket: string
  readonly content: string
  readonly attributes?: string
}

export function writeForm({ action, ticket, content, attributes = '' }: FormOptions): string {
  return `<form method="post" action="${escapeHtml(action)}" ${attributes}><input type="hidden" name="ticket" value="${escapeHtml(ticket)}">
${content}</form>`
}

/** The forms that end the dialog: a script notes whether a page opened this one. */
export const popupField = '<input type="hidden" name="popup" value="0">'

export interface ListOptions {
  readonly choices: Choices
  /** The address of this page. */
  readonly page: string
  readonly ticket: string
  readonly search: string
  /** Whether it is not the first page. */
  readonly isLater: boolean
  /** What is searched, for people: `Search people`. */
  readonly label: string
  /** What is said when there is nothing to choose. */
  readonly empty: string
  /** Where a choice is sent, and the name of its id. */
  readonly action: string
  readonly name: string
  readonly chosen: string | null
}

/** A searched list of pages; every choice is a button. */
export function writeChoices(options: ListOptions): string {
  const { choices, page, ticket, search, isLater, label, empty, action, name } = options
  const parts: string[] = []
  if (choices.isLong) {
    parts.push(`<form class="search" role="search" method="get" action="${escapeHtml(page)}">
<input type="hidden" name="ticket" value="${escapeHtml(ticket)}">
<input type="search" name="search" value="${escapeHtml(search)}" maxlength="200" dir="auto" aria-label="${escapeHtml(label)}" placeholder="${escapeHtml(label)}">
<button>Search</button></form>`)
  }
  if (choices.items.length === 0) {
    parts.push(
      `<p class="none" role="status">${search === '' ? escapeHtml(empty) : `Nothing was found for “${writeName(search)}”.`}</p>`,
    )
  } else {
    const items = choices.items.map((choice) => writeChoice(choice, name, options.chosen))
    parts.push(writeForm({ action, ticket, content: `<ul class="choices">${items.join('\n')}</ul>` }))
  }
  const first = search !== '' || isLater ? [`<a href="${link(page, { ticket })}">Show from the start</a>`] : []
  const next =
    choices.next === undefined
      ? []
      : [`<a rel="next" href="${link(page, { ticket, search, after: choices.next })}">More</a>`]
  if (first.length + next.length > 0) {
    parts.push(
      `<nav class="pages" aria-label="Pages of the list"><span>${first.join('')}</span><span>${next.join('')}</span></nav>`,
    )
  }
  return parts.join('\n')
}

function writeChoice({ id, name, detail, note }: Choice, field: string, chosen: string | null): string {
  const lines = [
    `<span class="name">${writeName(name)}</span>`,
    `<span class="detail">${writeName(detail)}</span>`,
    ...(note === null ? [] : [`<span class="note">${writeName(note)}</span>`]),
    ...(id === chosen ? ['<span class="chosen">Chosen</span>'] : []),
  ]
  return `<li><button name="${field}" value="${escapeHtml(id)}">${lines.join('')}</button></li>`
}

export function link(page: string, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''))
  return escapeHtml(`${page}?${query}`)
}

/** A form for something new: folded away where there is something to choose, and open where it was refused. */
export function writeNew(title: string, content: string, { isOpen }: { readonly isOpen: boolean }): string {
  return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(title)}</summary>
${content}</details>`
}

export function writeNotice(refused: Refused | undefined): string {
  const problem = refused?.problems['']
  return problem === undefined ? '' : `<p class="notice" role="alert">${escapeHtml(problem)}</p>`
}
