import { useSignal } from '@preact/signals'
import { type ComponentChildren, cloneElement, type VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { findPage } from '../../shared/pages.js'
import { base } from '../data/http.ts'
import { takeHeading } from '../router.ts'
import { useReachable, useUniqueId } from './hooks.ts'
import { Icon, type IconName } from './icons.tsx'
import { writeDayAndTime, writeSeconds, writeWhole } from './times.ts'

/** A link within the console. */
export function To(props: {
  readonly href: string
  readonly class?: string
  readonly title?: string
  readonly current?: boolean
  readonly children: ComponentChildren
}) {
  const { href, current, children, ...rest } = props
  return (
    <a href={base + href} data-in="" {...(current && { 'aria-current': 'page' as const })} {...rest}>
      {children}
    </a>
  )
}

export function IconButton(props: {
  readonly icon: IconName
  readonly label: string
  readonly onClick: () => void
  readonly class?: string
  readonly pressed?: boolean
  readonly disabled?: boolean
}) {
  const { icon, label, onClick, pressed, disabled } = props
  return (
    <button
      type="button"
      class={`bare ${props.class ?? ''}`}
      aria-label={label}
      title={label}
      onClick={onClick}
      disabled={disabled}
      {...(pressed !== undefined && { 'aria-pressed': pressed })}
    >
      <Icon name={icon} />
    </button>
  )
}

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const copied = useSignal(false)
  return (
    <button
      type="button"
      class="small copy"
      onClick={() => {
        void navigator.clipboard.writeText(text).then(() => {
          copied.value = true
          setTimeout(() => {
            copied.value = false
          }, 1500)
        })
      }}
    >
      {copied.value ? 'Copied' : label}
    </button>
  )
}

interface CodeProps {
  readonly text: string
  readonly label: string
  /** What is copied, where that is more than is shown. */
  readonly copied?: string
}

export function Code({ text, label, copied = text }: CodeProps) {
  const box = useRef<HTMLPreElement>(null)
  useReachable(box)
  return (
    <figure class="code">
      <figcaption>
        <span>{label}</span>
        <CopyButton text={copied} />
      </figcaption>
      <pre ref={box}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}

/** A text as JSON with indents, if it is some. */
export function prettify(text: string | null | undefined): string {
  if (!text) return ''
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

export function Badge({ tone, children }: { readonly tone: string; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

export function Time({ at }: { readonly at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={writeWhole(date)}>
      {writeSeconds(date)}
    </time>
  )
}

export function When({ at }: { readonly at: string | null | undefined }) {
  if (!at) return <span class="soft">–</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={writeWhole(date)}>
      {writeDayAndTime(date)}
    </time>
  )
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div>{children}</div>}
    </div>
  )
}

/** Where something will stand when it has been read. */
export function Outline({ kind }: { readonly kind: 'form' | 'select' | 'rest' }) {
  return <div class={`outline ${kind}`} aria-hidden="true" />
}

/** The heading of a page: it names the document, and has the focus when somebody has gone to the page. */
export function Heading({ children, class: name }: { readonly children: string; readonly class?: string }) {
  const element = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${children} · Switchboard`
    // The title of a document is not read out when only a part of it changes; what has the focus is.
    if (takeHeading()) element.current?.focus({ preventScroll: true })
  }, [children])
  return (
    <h1 ref={element} tabIndex={-1} class={name} dir="auto">
      {children}
    </h1>
  )
}

export function Head({
  title,
  lead,
  children,
}: {
  readonly title: string
  readonly lead?: string
  readonly children?: ComponentChildren
}) {
  return (
    <header class="head">
      <div>
        <Heading>{title}</Heading>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {children && <div class="head-tools">{children}</div>}
    </header>
  )
}

/** The head of a page that the rail leads to: the server writes the same before the script runs. */
export function PageHead({ of, children }: { readonly of: string; readonly children?: ComponentChildren }) {
  const { name = '', lead } = findPage(of) ?? {}
  return (
    <Head title={name} {...(lead !== undefined && { lead })}>
      {children}
    </Head>
  )
}

export function Field({
  label,
  hint,
  children,
}: {
  readonly label: string
  readonly hint?: string
  /** The one control that the label is of. */
  readonly children: VNode
}) {
  const id = useUniqueId()
  const about = hint === undefined ? {} : { 'aria-describedby': `${id}-hint` }
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {cloneElement(children, { id, ...about })}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  )
}

/** A table that scrolls on its own where it is too wide. */
export function TablePlace({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  const place = useRef<HTMLElement>(null)
  useReachable(place)
  return (
    <section class="table-place" ref={place} aria-label={label}>
      {children}
    </section>
  )
}
