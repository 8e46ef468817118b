import { icons } from '../../shared/pages.js'

/** Lines of icons on a grid of 24, drawn by us. */
const paths = {
  ...icons,
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  back: 'M15 5l-7 7 7 7',
  send: 'M4 12l16-8-6 16-3-6-7-2z',
  clip: 'M20 11l-8 8a5 5 0 0 1-7-7l8-8a3.500 3.500 0 0 1 5 5l-8 8a2 2 0 0 1-3-3l7-7',
  mic: 'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM5 11a7 7 0 0 0 14 0M12 18v3',
  stop: 'M7 7h10v10H7z',
  gear: 'M12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM19 12l2-1-1-3-2.300.300-1.200-1.200L16.500 5l-3-1-1.500 2h-1L9.500 4l-3 1 .3 2.300-1.300 1.200L3 8l-1 3 2 1v1l-2 1 1 3 2.300-.3 1.200 1.200L6.500 20l3 1 1.500-2h1l1.500 2 3-1-.3-2.300 1.200-1.200 2.300.3 1-3-2-1z',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  fold: 'M9 5l7 7-7 7',
  reply: 'M9 6L4 11l5 5M4 11h9a7 7 0 0 1 7 7v1',
  place: 'M12 21s7-6 7-12a7 7 0 0 0-14 0c0 6 7 12 7 12zM12 7a2.500 2.500 0 1 1 0 5 2.500 2.500 0 0 1 0-5z',
  person: 'M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4 21a8 8 0 0 1 16 0',
  file: 'M6 3h8l4 4v14H6zM14 3v5h4',
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 4l13 8-13 8z',
  list: 'M9 6h11M9 12h11M9 18h11M4 6h.01M4 12h.01M4 18h.01',
  down: 'M12 5v14M6 13l6 6 6-6',
  info: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM12 11v5M12 8h.01',
  hangup: 'M3 15c0-1 0-3 2-4 4-2 10-2 14 0 2 1 2 3 2 4l-4 1-1-3a12 12 0 0 0-8 0l-1 3z',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  smile: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM8 14a4.500 4.500 0 0 0 8 0M9 9h.01M15 9h.01',
  sms: 'M4 4h16v12H9l-5 4zM8 9h8M8 12h5',
} as const

export type IconName = keyof typeof paths

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}

/** Ticks of a message: one when it is sent, two when it is delivered, coloured when it is read. */
export function Ticks({ state }: { readonly state: string }) {
  const label = { accepted: 'On its way', failed: 'Not delivered', expired: 'Expired' }[state] ?? state
  const isDouble = state === 'delivered' || state === 'read' || state === 'played'
  if (state === 'failed' || state === 'expired') {
    return (
      <span class="ticks failed" role="img" aria-label={label} title={label}>
        !
      </span>
    )
  }
  return (
    <svg
      class={`ticks ${state === 'read' || state === 'played' ? 'read' : ''}`}
      viewBox="0 0 20 12"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {state === 'accepted' ? (
        <path d="M10 2v4l2.500 1.500M10 1a5 5 0 1 1 0 10 5 5 0 0 1 0-10z" />
      ) : (
        <path d="M2 6l4 4 8-8" />
      )}
      {isDouble && <path d="M8 9l1 1 8-8" />}
    </svg>
  )
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" class="mark-ground" />
      <path d="M8 11h6l4 10h6M8 21h6l4-10h6" />
    </svg>
  )
}
