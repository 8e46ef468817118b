import { Chance } from '../../seeded-random.ts'
import type { Line, LineParts } from '../line.ts'
import { CallsLine } from './calls-line.ts'
import { GroupsLine } from './groups-line.ts'
import { qrCodesLine, schedulesLine, solutionsLine } from './list-lines.ts'
import { mediaLine } from './media-line.ts'
import { messagesLine } from './messages-line.ts'
import { NumbersLine } from './numbers-line.ts'
import { operatorsLine } from './operators-line.ts'
import { PicturesLine } from './pictures-line.ts'
import { SendingLine } from './sending-line.ts'
import { TemplatesLine } from './templates-line.ts'
import { accountLine, botLine, complianceLine, encryptionLine } from './value-lines.ts'
import { webhooksLine } from './webhooks-line.ts'

/** A line for every chapter that writes. Each has a chance of its own, so that how they mix does not change what each does. */
export function makeLines(parts: Omit<LineParts, 'chance'>, dataDir: string, seed: number): Line[] {
  const makers: ((parts: LineParts) => Line)[] = [
    accountLine,
    complianceLine,
    encryptionLine,
    botLine,
    qrCodesLine,
    schedulesLine,
    solutionsLine,
    mediaLine,
    messagesLine,
    webhooksLine,
    (own) => new PicturesLine(own, dataDir),
    (own) => new NumbersLine(own),
    (own) => new GroupsLine(own),
    (own) => new CallsLine(own),
    (own) => new TemplatesLine(own),
    (own) => new SendingLine(own),
    operatorsLine,
  ]
  return makers.map((make, index) => make({ ...parts, chance: new Chance(seed * 100 + index) }))
}
