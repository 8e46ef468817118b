// The pages of the console. The server writes them into the frame that is painted first; the script draws the same frame.

/** Lines on a grid of 24. */
export const icons = {
  phone: 'M8 2h8a2 2 0 0 1 2 2v16a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2zM11 18h2',
  live: 'M3 12h4l3-8 4 16 3-8h4',
  deliveries: 'M3 12l18-8-6 17-4-7-8-2zM11 14l4-4',
  connect: 'M9 7V3M15 7V3M7 7h10v4a5 5 0 0 1-10 0V7zM12 16v5',
  calls: 'M5 4h4l2 5-2.5 1.5a11 11 0 0 0 5 5L15 13l5 2v4a1 1 0 0 1-1 1A16 16 0 0 1 4 5a1 1 0 0 1 1-1z',
  resources:
    'M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.300-8-3zM4 6v12c0 1.700 3.600 3 8 3s8-1.300 8-3V6M4 12c0 1.700 3.600 3 8 3s8-1.300 8-3',
  sandbox: 'M12 7v5l3 2M21 12a9 9 0 1 1-3-6.700M21 3v4h-4',
  access: 'M7 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM11 12h10v4M17 12v3',
  docs: 'M5 4h10l4 4v12H5zM14 4v5h5M9 13h6M9 17h6',
  theme: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
  menu: 'M4 7h16M4 12h16M4 17h16',
  search: 'M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM16 16l5 5',
  keys: 'M3 7h18v10H3zM7 11h.01M11 11h.01M15 11h.01M8 14h8',
}

/** `first` is the first segment of the addresses of a page. */
export const pages = [
  { first: '', name: 'Phones', icon: 'phone' },
  {
    first: 'live',
    name: 'Live',
    icon: 'live',
    lead: 'Request, event, webhook, phone: everything as it happens.',
  },
  {
    first: 'deliveries',
    name: 'Deliveries',
    icon: 'deliveries',
    lead: 'Every webhook, what was sent, and what came back.',
  },
  {
    first: 'connect',
    name: 'Connect your app',
    icon: 'connect',
    lead: 'Start a receiver, point the app at it, and see the first event arrive.',
  },
  {
    first: 'calls',
    name: 'Calls',
    icon: 'calls',
    lead: 'Who called whom, how the call ended, and the session descriptions of both sides.',
  },
  {
    first: 'resources',
    name: 'Resources',
    icon: 'resources',
    lead: 'What is in the store, read and changed through the API itself.',
  },
  {
    first: 'sandbox',
    name: 'Sandbox',
    icon: 'sandbox',
    lead: 'Move the clock, cause faults, and reset the store.',
  },
  { first: 'access', name: 'Access', icon: 'access', lead: 'Who may do what, and who did what.' },
  { first: 'docs', name: 'Docs', icon: 'docs' },
]

/** The page that an address belongs to. */
export function findPage(first) {
  return pages.find((page) => page.first === (first === 'traces' ? 'live' : first))
}
