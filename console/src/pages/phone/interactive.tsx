import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Phone } from '../../data/phones.ts'
import type { Message, Rendered } from '../../data/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Header, Text } from './content.tsx'

interface Props {
  readonly phone: Phone
  readonly message: Message
  readonly content: Readonly<Record<string, unknown>>
}

interface Row {
  readonly id: string
  readonly title: string
  readonly description?: string
}

/** What a business asks with something to press, and what a user answered. */
export function Interactive({ phone, message, content }: Props) {
  if (message.direction === 'to_business') return <Answer content={content} />
  const header = content['header'] as Rendered['header']
  const body = (content['body'] as { text?: string } | undefined)?.text
  const footer = (content['footer'] as { text?: string } | undefined)?.text
  return (
    <>
      {header && <Header phone={phone} header={header} message={message} />}
      {body && <Text body={body} />}
      {footer && <p class="soft footer-text">{footer}</p>}
      <Choices phone={phone} message={message} content={content} />
    </>
  )
}

function Answer({ content }: { readonly content: Props['content'] }) {
  const type = String(content['type'])
  const answer = (content[type] ?? {}) as {
    title?: string
    description?: string
    response?: string
    response_json?: string
  }
  if (type === 'call_permission_reply') {
    return <p>{answer.response === 'accept' ? 'You may call me.' : 'Please do not call me.'}</p>
  }
  if (type === 'nfm_reply') return <pre class="small-text">{answer.response_json}</pre>
  return (
    <>
      <p>{answer.title}</p>
      {answer.description && <p class="soft">{answer.description}</p>}
    </>
  )
}

function Choices({ phone, message, content }: Props): ComponentChildren {
  const isListOpen = useSignal(false)
  const action = (content['action'] ?? {}) as Record<string, unknown>
  const press = (more: object) => void phone.act(message, 'press', more)
  switch (content['type']) {
    case 'button':
      return (
        <div class="choices">
          {(action['buttons'] as { reply: Row }[]).map(({ reply }) => (
            <button type="button" key={reply.id} onClick={() => press({ choice: reply.id })}>
              {reply.title}
            </button>
          ))}
        </div>
      )
    case 'list':
      return (
        <div class="choices">
          <button
            type="button"
            onClick={() => {
              isListOpen.value = true
            }}
          >
            {String(action['button'] ?? 'Choose')}
          </button>
          {isListOpen.value && (
            <ListDialog
              title={String(action['button'] ?? 'Choose')}
              sections={action['sections'] as Section[]}
              onChoose={(choice) => press({ choice })}
              onClose={() => {
                isListOpen.value = false
              }}
            />
          )}
        </div>
      )
    case 'cta_url': {
      const { display_text, url } = (action['parameters'] ?? {}) as { display_text?: string; url?: string }
      return (
        <div class="choices">
          <a href={url} target="_blank" rel="noreferrer noopener">
            {display_text}
          </a>
        </div>
      )
    }
    case 'location_request_message':
      return (
        <div class="choices">
          <button type="button" onClick={() => press({ data: { latitude: 40.7128, longitude: -74.006 } })}>
            Send location
          </button>
        </div>
      )
    case 'call_permission_request':
      return (
        <div class="choices">
          <button type="button" onClick={() => press({ choice: 'accept' })}>
            Allow calls
          </button>
          <button type="button" onClick={() => press({ choice: 'reject' })}>
            Do not allow
          </button>
        </div>
      )
    case 'flow':
      return (
        <div class="choices">
          <button type="button" onClick={() => press({ data: { answered: true } })}>
            {String((action['parameters'] as { flow_cta?: string } | undefined)?.flow_cta ?? 'Open')}
          </button>
        </div>
      )
    default:
      return null
  }
}

interface Section {
  readonly title?: string
  readonly rows: readonly Row[]
}

function ListDialog(props: {
  readonly title: string
  readonly sections: readonly Section[]
  readonly onChoose: (id: string) => void
  readonly onClose: () => void
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      {props.sections.map(({ title, rows }, index) => (
        <section key={index} class="list-section">
          {title && <h3>{title}</h3>}
          {rows.map((row) => (
            <button
              type="button"
              key={row.id}
              class="list-row"
              onClick={() => {
                props.onChoose(row.id)
                props.onClose()
              }}
            >
              <b>{row.title}</b>
              {row.description && <small>{row.description}</small>}
            </button>
          ))}
        </section>
      ))}
    </Dialog>
  )
}
