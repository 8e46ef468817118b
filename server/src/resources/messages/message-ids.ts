import type { Random } from '../../base/keys/random.ts'
import type { MessagesTable } from '../../db/tables.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'

type Direction = MessagesTable['direction']

/** The id of a message that is made here; `wamid.` and base64. */
export function drawMessageId(
  { random, vocabulary }: { readonly random: Random; readonly vocabulary: Vocabulary },
  direction: Direction,
): string {
  return vocabulary.habits.public_message_ids ? drawPublicId(random, direction) : `wamid.${random.id(18)}`
}

/** What stands around the digits and the name of a message: types and lengths, of which the one behind the direction is the name's. */
const beforeDigits = [0x1c, 0x18, 11]
const afterDigits = [0x15, 0x02, 0x00]
const directions: Readonly<Record<Direction, number>> = { to_user: 0x11, to_business: 0x12 }
const beforeName = [0x18, 32]
const end = [0x00]

const leastDigits = 10_000_000_000
/** How far the eleven digits of two draws are apart whose traces begin with neighbouring numbers of four hexadecimal digits. */
const step = 90_000_000_000 / 0x1_0000

/**
 * As the public platform writes them: patterns and columns of integrators are made for that. The public ones hold the digits of the
 * user's phone number. These hold random digits, because an id outlives the user: it stays when the user is forgotten. Ids that are drawn
 * together begin alike, as traces do, so that they are neighbours in an index.
 */
function drawPublicId(random: Random, direction: Direction): string {
  const name = random.trace().toUpperCase()
  const digits = leastDigits + Math.floor(Number.parseInt(name.slice(0, 4), 16) * step)
  const bytes = Buffer.concat([
    Buffer.from(beforeDigits),
    Buffer.from(String(digits)),
    Buffer.from([...afterDigits, directions[direction], ...beforeName]),
    Buffer.from(name),
    Buffer.from(end),
  ])
  return `wamid.${bytes.toString('base64')}`
}
