import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../../../ui/icons.tsx'
import type { CallMedia } from './call-media.ts'

const meterPause = 100

/** What one does with the sound of a call. */
export function CallSound({ media }: { readonly media: CallMedia }) {
  const showsKeys = useSignal(false)
  const isMuted = media.isMuted.value
  return (
    <>
      <Meters media={media} />
      <div class="call-tools">
        <button type="button" aria-pressed={isMuted} onClick={() => media.setMuted(!isMuted)}>
          <Icon name="mic" />
          {isMuted ? 'Muted' : 'Mute'}
        </button>
        <button
          type="button"
          aria-pressed={showsKeys.value}
          onClick={() => {
            showsKeys.value = !showsKeys.value
          }}
        >
          <Icon name="keys" />
          Keypad
        </button>
      </div>
      {showsKeys.value && <Keypad media={media} />}
    </>
  )
}

/** The element that plays. While the call lasts, it plays on also when another page of the console is shown. */
export function CallAudio({ media }: { readonly media: CallMedia }) {
  const place = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    place.current?.append(media.audio)
    return () => {
      if (!media.isClosed) document.body.append(media.audio)
    }
  }, [media])
  return <span ref={place} />
}

/** Reads something of the media ten times a second. */
function useReading<T>(media: CallMedia, read: (media: CallMedia) => T): T {
  const reading = useSignal(read(media))
  useEffect(() => {
    const timer = setInterval(() => {
      reading.value = read(media)
    }, meterPause)
    return () => clearInterval(timer)
  }, [media, read, reading])
  return reading.value
}

const readLevels = (media: CallMedia) => media.levels()
const readTakesKeys = (media: CallMedia) => media.takesKeys

function Meters({ media }: { readonly media: CallMedia }) {
  const { mine, theirs } = useReading(media, readLevels)
  return (
    <dl class="meters">
      <Meter label="The user" value={mine} />
      <Meter label="The business" value={theirs} />
    </dl>
  )
}

function Meter({ label, value }: { readonly label: string; readonly value: number }) {
  return (
    <div>
      <dt aria-hidden="true">{label}</dt>
      <dd>
        <meter aria-label={label} value={value} />
      </dd>
    </div>
  )
}

function Keypad({ media }: { readonly media: CallMedia }) {
  const keys = useSignal('')
  const canSend = useReading(media, readTakesKeys)
  return (
    <fieldset class="keypad" aria-label="Keypad">
      <output>{keys.value}</output>
      {!canSend && <p>The business takes no tones of keys, or is not connected yet.</p>}
      {[...'123456789*0#'].map((key) => (
        <button
          type="button"
          key={key}
          disabled={!canSend}
          onClick={() => {
            keys.value += key
            media.sendKey(key)
          }}
        >
          {key}
        </button>
      ))}
    </fieldset>
  )
}
