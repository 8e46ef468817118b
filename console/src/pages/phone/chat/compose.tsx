import { type Signal, useSignal } from '@preact/signals'
import { gatewayMediaUpload } from '@switchboard/client/methods'
import { useEffect, useRef } from 'preact/hooks'
import { client } from '../../../data/http.ts'
import { isFileType } from '../../../data/message-parts.ts'
import type { Message } from '../../../data/messages.ts'
import type { WrittenContent } from '../../../data/phone/chat.ts'
import type { ChatState } from '../../../data/phone/chat-state.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { Icon } from '../../../ui/icons.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { IconButton } from '../../../ui/parts.tsx'
import { writeLength } from '../../../ui/times.ts'
import { summarize } from '../summarize.ts'
import { nameAuthor } from './bubble.tsx'
import { keepDraft, readDraft } from './drafts.ts'
import { type Recording, startRecording } from './voice.ts'
import './compose.css'

interface ComposeProps {
  readonly phone: Phone
  readonly chat: ChatState
  readonly replyTo: Signal<Message | undefined>
  readonly onSend: (content: WrittenContent) => void
}

/** Where a user writes, records, and attaches. */
export function Compose({ phone, chat, replyTo, onSend }: ComposeProps) {
  const draft = useSignal(readDraft(phone.wa_id, chat.key))
  const recording = useSignal<Recording | undefined>(undefined)
  const upload = useSignal<string | undefined>(undefined)
  const box = useRef<HTMLTextAreaElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const quoted = replyTo.value
  useEffect(() => {
    if (quoted) box.current?.focus()
  }, [quoted])
  const setDraft = (text: string) => {
    draft.value = text
    keepDraft(phone.wa_id, chat.key, text)
  }
  const sendText = () => {
    const body = draft.value.trim()
    if (body === '') return
    setDraft('')
    onSend({ type: 'text', text: { body } })
  }
  const sendFile = async (file: File) => {
    upload.value = file.name
    await phone.store.attempt(async () => {
      const { phone_number_id } = chat.key
      const { id, mime_type } = await gatewayMediaUpload(client, { phone_number_id, file })
      const type = typeOf(mime_type)
      const caption = draft.value.trim()
      const isCaptioned = caption !== '' && type !== 'audio' && type !== 'sticker'
      if (isCaptioned) setDraft('')
      const named = type === 'document' ? { filename: file.name } : {}
      onSend({ type, [type]: { id, ...named, ...(isCaptioned && { caption }) } })
    })
    upload.value = undefined
  }
  const stopRecording = async (isSent: boolean) => {
    const voice = await recording.value?.stop()
    recording.value = undefined
    if (isSent && voice) await sendFile(voice)
  }
  const open = (kind: 'place' | 'contact') => {
    chat.sheet.value = { kind }
  }
  return (
    <div class="compose">
      {quoted && (
        <div class="reply-to">
          <span class="grow">
            <b dir="auto">{nameAuthor(phone, quoted)}</b>
            <span dir="auto">{summarize(quoted)}</span>
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
      {upload.value !== undefined && (
        <p class="upload soft" role="status">
          {`Sending ${upload.value}…`}
        </p>
      )}
      {recording.value ? (
        <RecordingBar recording={recording.value} onStop={(isSent) => void stopRecording(isSent)} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            sendText()
          }}
        >
          <Menu
            label="Attach"
            icon="clip"
            above
            items={[
              { label: 'Picture, video or file', icon: 'picture', onSelect: () => input.current?.click() },
              { label: 'Location', icon: 'place', onSelect: () => open('place') },
              { label: 'Contact', icon: 'person', onSelect: () => open('contact') },
            ]}
          />
          <input
            ref={input}
            type="file"
            hidden
            aria-label="File"
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? []
              event.currentTarget.value = ''
              if (file) void sendFile(file)
            }}
          />
          <textarea
            ref={box}
            rows={1}
            dir="auto"
            maxLength={4096}
            aria-label="Message"
            placeholder="Message"
            value={draft.value}
            onInput={(event) => setDraft(event.currentTarget.value)}
            onPaste={(event) => {
              const [file] = event.clipboardData?.files ?? []
              if (!file) return
              event.preventDefault()
              void sendFile(file)
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
              event.preventDefault()
              sendText()
            }}
          />
          {draft.value.trim() === '' ? (
            <IconButton
              icon="mic"
              label="Record a voice message"
              onClick={() =>
                void phone.store.attempt(async () => {
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
    </div>
  )
}

function typeOf(mime_type: string): 'image' | 'video' | 'audio' | 'sticker' | 'document' {
  if (mime_type === 'image/webp') return 'sticker'
  const [type = ''] = mime_type.split('/')
  return isFileType(type) ? type : 'document'
}

interface RecordingProps {
  readonly recording: Recording
  readonly onStop: (isSent: boolean) => void
}

function RecordingBar({ recording, onStop }: RecordingProps) {
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
