/** A user of the busy world, as the world file has one. */
export interface Person {
  readonly wa_id: string
  readonly name?: string
  readonly presence?: 'online' | 'offline'
  readonly auto_read?: boolean
  readonly reachable?: boolean
}

const scripted = `<script>document.title='taken'</script>`
const pictured = `<img src=x onerror="document.title='taken'">`
const seventyLetters = 'Maximiliana Wolfeschlegelsteinhausenbergerdorff von und zu Hohenfelsen'

/** The two phones that the console shows when its address names none, and the users whose names or phones are unusual. */
export const people = {
  ada: { wa_id: '16505551234', name: 'Ada', auto_read: true },
  arabic: { wa_id: '16505550123', name: 'محمد بن عبد الله الأنصاري', auto_read: true },
  hebrew: { wa_id: '16505550124', name: 'שרה בת־אברהם לוי', auto_read: true },
  long: { wa_id: '16505550125', name: seventyLetters, auto_read: true },
  script: { wa_id: '16505550126', name: scripted, auto_read: true },
  markup: { wa_id: '16505550127', name: pictured, auto_read: true },
  emoji: { wa_id: '16505550128', name: '🌵🪴 Flora 👩🏽‍🌾', auto_read: true },
  japanese: { wa_id: '16505550129', name: '田中 さくら', auto_read: true },
  /** What follows the control character is drawn from right to left. */
  override: { wa_id: '16505550130', name: 'Invoice \u202Egnp.exe', auto_read: true },
  offline: { wa_id: '16505550131', name: 'Olga (offline)', presence: 'offline' },
  unreachable: { wa_id: '16505550132', name: 'Uma (unreachable)', reachable: false },
  /** Has blocked the business. */
  blocking: { wa_id: '16505550133', name: 'Bea (blocked the business)' },
  /** The business has blocked him. */
  blocked: { wa_id: '16505550134', name: 'Sam (blocked by the business)' },
  stopped: { wa_id: '16505550135', name: 'Mia (stopped marketing)', auto_read: true },
  /** Has never written, so that only templates reach her. */
  silent: { wa_id: '16505550136', name: 'Nora (never wrote)' },
  nameless: { wa_id: '16505550137', auto_read: true },
} as const satisfies Record<string, Person>

/** Customers without anything unusual. */
export function makeCustomers(count: number): Person[] {
  return Array.from({ length: count }, (_, index) => ({
    wa_id: String(16_505_560_000 + index),
    name: `${firstNames[index % firstNames.length]} ${lastNames[index % lastNames.length]}`,
    auto_read: index % 3 !== 0,
    presence: index % 11 === 10 ? 'offline' : 'online',
  }))
}

/** People of the first business, who may connect it to apps. */
export function makeStaff(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    id: String(2_300_000_000_000_001 + index),
    name: `${firstNames[index % firstNames.length]} ${lastNames[index % lastNames.length]}`,
    email: `staff${index + 1}@lucky-shrub.example`,
  }))
}

const firstNames = [
  'Grace',
  'Alan',
  'Edsger',
  'Barbara',
  'Ken',
  'Margaret',
  'Dennis',
  'Radia',
  'Tim',
  'Hedy',
  'Niklaus',
]
const lastNames = ['Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Thompson', 'Hamilton', 'Ritchie', 'Perlman', 'Lamarr']
