import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { IconButton } from '../../../ui/parts.tsx'
import { writeLength } from '../../../ui/times.ts'
import './voice-player.css'

const speeds = [1, 1.5, 2]

interface Props {
  readonly url: string
  readonly label: string
  readonly onPlay: () => void
}

/** Plays a voice message: play and pause, where it is, and how fast. */
export function VoicePlayer({ url, label, onPlay }: Props) {
  const audio = useRef<HTMLAudioElement>(null)
  const isPlaying = useSignal(false)
  const at = useSignal(0)
  const length = useSignal(0)
  const speed = useSignal(1)
  const toggle = () => {
    const { current } = audio
    if (current?.paused) void current.play().catch(() => undefined)
    else current?.pause()
  }
  const changeSpeed = () => {
    speed.value = speeds[(speeds.indexOf(speed.value) + 1) % speeds.length] ?? 1
    if (audio.current) audio.current.playbackRate = speed.value
  }
  const shown = isPlaying.value || at.value > 0 ? at.value : length.value
  return (
    <fieldset class="voice-player" aria-label={label}>
      <audio
        ref={audio}
        preload="metadata"
        src={url}
        onPlay={() => {
          isPlaying.value = true
          onPlay()
        }}
        onPause={() => {
          isPlaying.value = false
        }}
        onEnded={() => {
          at.value = 0
        }}
        onTimeUpdate={({ currentTarget }) => {
          at.value = currentTarget.ended ? 0 : currentTarget.currentTime
        }}
        onDurationChange={({ currentTarget }) => {
          length.value = Number.isFinite(currentTarget.duration) ? currentTarget.duration : 0
        }}
      >
        <track kind="captions" />
      </audio>
      <IconButton
        icon={isPlaying.value ? 'pause' : 'play'}
        label={isPlaying.value ? 'Pause' : `Play ${label.toLowerCase()}`}
        onClick={toggle}
      />
      <input
        type="range"
        aria-label="Position"
        min={0}
        max={length.value || 1}
        step={0.1}
        value={at.value}
        onInput={({ currentTarget }) => {
          at.value = currentTarget.valueAsNumber
          if (audio.current) audio.current.currentTime = currentTarget.valueAsNumber
        }}
      />
      <output>{writeLength(Math.round(shown))}</output>
      <button type="button" class="speed" aria-label={`Speed ${speed.value}×`} onClick={changeSpeed}>
        {`${speed.value}×`}
      </button>
    </fieldset>
  )
}
