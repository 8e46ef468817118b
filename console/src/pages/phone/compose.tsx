import { type Signal, useSignal } from '@preact/signals'
import { gatewayUploadMedia } from '@switchboard/client/methods'
import { useEffect, useRef } from 'preact/hooks'
import { client } from '../../data/http.ts'
import type { ChatKey, Phone } from '../../data/phones.ts'
import type { Message } from '../../data/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Field, IconButton } from '../../ui/parts.tsx'
import { writeLength } from '../../ui/times.ts'
import { summarize } from './summarize.ts'
import { type Recording, startRecording } from './voice.ts'

interface ComposeProps {
  readonly phone: Phone
  readonly chatKey: ChatKey
  readonly replyTo: Signal<Message | undefined>
}

/** Where a user writes, records, and attaches. */
export function Compose({ phone, chatKey, replyTo }: ComposeProps) {
  const draft = useSignal('')
  const recording = useSignal<Recording | undefined>(undefined)
  const dialog = useSignal<'place' | 'person' | undefined>(undefined)
  const box = useRef<HTMLTextAreaElement>(null)
  const quoted = replyTo.value
  useEffect(() => {
    if (quoted) box.current?.focus()
  }, [quoted])
  const write = async (content: Readonly<Record<string, unknown>>) => {
    const context = replyTo.value && { context: { id: replyTo.value.id } }
    const isWritten = await phone.write(chatKey, { ...content, ...context })
    if (isWritten) replyTo.value = undefined
    return isWritten
  }
  const sendText = async () => {
    const body = draft.value.trim()
    if (body === '') return
    draft.value = ''
    if (!(await write({ type: 'text', text: { body } }))) draft.value = body
  }
  const sendFile = (file: File, member: object = {}) =>
    phone.attempt(async () => {
      const { phone_number_id } = chatKey
      const { id, mime_type } = await gatewayUploadMedia(client, { phone_number_id, file })
      const type = kindOf(mime_type)
      const named = type === 'document' ? { filename: file.name } : {}
      await write({ type, [type]: { id, ...named, ...member } })
    })
  const stopRecording = async (isSent: boolean) => {
    const voice = await recording.value?.stop()
    recording.value = undefined
    if (isSent && voice) await sendFile(voice)
  }
  return (
    <div class="compose">
      {quoted && (
        <div class="quote">
          <span class="grow">
            <b>Reply to</b> <span>{summarize(quoted)}</span>
          </span>
          <IconButton
            icon="close"
            label="Do not reply"
            onClick={() => {
              replyTo.value = undefined
            }}
          />
        </div>
      )}
      {recording.value ? (
        <RecordingBar recording={recording.value} onStop={(isSent) => void stopRecording(isSent)} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void sendText()
          }}
        >
          <AttachMenu
            id={`attach-${phone.wa_id}`}
            onFile={(file) => void sendFile(file)}
            onDialog={(name) => {
              dialog.value = name
            }}
          />
          <textarea
            ref={box}
            rows={1}
            aria-label="Message"
            placeholder="Message"
            value={draft.value}
            onInput={(event) => {
              draft.value = event.currentTarget.value
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
              event.preventDefault()
              void sendText()
            }}
          />
          {draft.value.trim() === '' ? (
            <IconButton
              icon="mic"
              label="Record a voice message"
              onClick={() =>
                void phone.attempt(async () => {
                  recording.value = await startRecording()
                })
              }
            />
          ) : (
            <button type="submit" class="bare send" aria-label="Send" title="Send">
              <Icon name="send" />
            </button>
          )}
        </form>
      )}
      {dialog.value === 'place' && (
        <PlaceDialog
          onSend={(location) => void write({ type: 'location', location })}
          onClose={() => {
            dialog.value = undefined
          }}
        />
      )}
      {dialog.value === 'person' && (
        <ContactDialog
          onSend={(contact) => void write({ type: 'contacts', contacts: [contact] })}
          onClose={() => {
            dialog.value = undefined
          }}
        />
      )}
    </div>
  )
}

function kindOf(mime_type: string): 'image' | 'video' | 'audio' | 'sticker' | 'document' {
  if (mime_type === 'image/webp') return 'sticker'
  const [kind] = mime_type.split('/')
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document'
}

function AttachMenu(props: {
  readonly id: string
  readonly onFile: (file: File) => void
  readonly onDialog: (name: 'place' | 'person') => void
}) {
  const menu = useRef<HTMLDivElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const hide = () => menu.current?.hidePopover()
  return (
    <>
      <button type="button" class="bare" popovertarget={props.id} aria-label="Attach" title="Attach">
        <Icon name="clip" />
      </button>
      <div id={props.id} ref={menu} popover="auto" class="menu above">
        <button
          type="button"
          onClick={() => {
            hide()
            input.current?.click()
          }}
        >
          <Icon name="picture" />
          Picture, video or file
        </button>
        <button
          type="button"
          onClick={() => {
            hide()
            props.onDialog('place')
          }}
        >
          <Icon name="place" />
          Location
        </button>
        <button
          type="button"
          onClick={() => {
            hide()
            props.onDialog('person')
          }}
        >
          <Icon name="person" />
          Contact
        </button>
      </div>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? []
          event.currentTarget.value = ''
          if (file) props.onFile(file)
        }}
      />
    </>
  )
}

function RecordingBar({
  recording,
  onStop,
}: {
  readonly recording: Recording
  readonly onStop: (isSent: boolean) => void
}) {
  const seconds = useSignal(0)
  useEffect(() => {
    const timer = setInterval(() => {
      seconds.value = Math.floor((Date.now() - recording.startedAt) / 1000)
    }, 250)
    return () => clearInterval(timer)
  }, [recording, seconds])
  return (
    <div class="recording" role="status">
      <IconButton icon="close" label="Discard the recording" onClick={() => onStop(false)} />
      <span class="grow">
        <span class="dot" aria-hidden="true" /> Recording {writeLength(seconds.value)}
      </span>
      <IconButton icon="send" label="Send the recording" onClick={() => onStop(true)} class="send" />
    </div>
  )
}

function PlaceDialog({ onSend, onClose }: { readonly onSend: (place: object) => void; readonly onClose: () => void }) {
  return (
    <Dialog title="Send a location" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          const given = new FormData(event.currentTarget)
          onSend({
            latitude: Number(given.get('latitude')),
            longitude: Number(given.get('longitude')),
            name: String(given.get('name')),
            address: String(given.get('address')),
          })
          onClose()
        }}
      >
        <div class="two">
          <Field label="Latitude">
            <input name="latitude" type="number" step="any" min="-90" max="90" required value="40.7128" />
          </Field>
          <Field label="Longitude">
            <input name="longitude" type="number" step="any" min="-180" max="180" required value="-74.006" />
          </Field>
        </div>
        <Field label="Name">
          <input name="name" value="City Hall Park" maxLength={256} />
        </Field>
        <Field label="Address">
          <input name="address" value="Broadway, New York" maxLength={256} />
        </Field>
        <button type="submit" class="main">
          Send
        </button>
      </form>
    </Dialog>
  )
}

function ContactDialog({
  onSend,
  onClose,
}: {
  readonly onSend: (contact: object) => void
  readonly onClose: () => void
}) {
  return (
    <Dialog title="Send a contact" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          const given = new FormData(event.currentTarget)
          const formatted_name = String(given.get('name'))
          const [first_name = ''] = formatted_name.split(' ')
          onSend({
            name: { formatted_name, first_name },
            phones: [{ phone: String(given.get('phone')), type: 'CELL' }],
          })
          onClose()
        }}
      >
        <Field label="Name">
          <input name="name" required value="Grace Hopper" maxLength={256} />
        </Field>
        <Field label="Phone">
          <input name="phone" required inputMode="tel" value="+16505550142" maxLength={40} />
        </Field>
        <button type="submit" class="main">
          Send
        </button>
      </form>
    </Dialog>
  )
}
