import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Icon } from '../../../ui/icons.tsx'
import type { CallMedia } from './call-media.ts'

const meterPause = 100

/** What one does with the sound of a call; a call without any says so and offers nothing. */
export function CallSound({ media }: { readonly media: CallMedia }) {
  const isMuted = useSignal(false)
  const showsKeys = useSignal(false)
  if (!media.hasSound) {
    return (
      <p class="call-hint">Nothing can be heard yet: this phone signals calls, and sound comes with a voice peer.</p>
    )
  }
  return (
    <>
      <Meters media={media} />
      {showsKeys.value && <Keypad media={media} />}
      <div class="call-tools">
        <button
          type="button"
          aria-pressed={isMuted.value}
          onClick={() => {
            isMuted.value = !isMuted.value
            media.setMuted(isMuted.value)
          }}
        >
          <Icon name="mic" />
          {isMuted.value ? 'Muted' : 'Mute'}
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
    </>
  )
}

function Meters({ media }: { readonly media: CallMedia }) {
  const levels = useSignal(media.levels())
  useEffect(() => {
    const timer = setInterval(() => {
      levels.value = media.levels()
    }, meterPause)
    return () => clearInterval(timer)
  }, [media, levels])
  return (
    <div class="meters">
      <meter aria-label="The user" value={levels.value.mine} />
      <meter aria-label="The business" value={levels.value.theirs} />
    </div>
  )
}

function Keypad({ media }: { readonly media: CallMedia }) {
  const keys = useSignal('')
  return (
    <fieldset class="keypad" aria-label="Keypad">
      <output>{keys.value}</output>
      {[...'123456789*0#'].map((key) => (
        <button
          type="button"
          key={key}
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
