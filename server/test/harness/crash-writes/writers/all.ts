import { Chance } from '../../seeded-random.ts'
import type { ChapterWriter, WriterDeps } from '../chapter-writer.ts'
import { CallsWriter } from './calls-writer.ts'
import { GroupsWriter } from './groups-writer.ts'
import { qrCodesWriter, schedulesWriter, solutionsWriter } from './list-writers.ts'
import { mediaWriter } from './media-writer.ts'
import { messagesWriter } from './messages-writer.ts'
import { NumbersWriter } from './numbers-writer.ts'
import { operatorsWriter } from './operators-writer.ts'
import { PicturesWriter } from './pictures-writer.ts'
import { SendingWriter } from './sending-writer.ts'
import { SignUpWriter } from './sign-up-writer.ts'
import { TemplatesWriter } from './templates-writer.ts'
import { accountWriter, botWriter, complianceWriter, encryptionWriter } from './value-writers.ts'
import { webhooksWriter } from './webhooks-writer.ts'

/** A writer for every chapter that has writes. Each has a chance of its own, so that how they mix does not change what each does. */
export function makeWriters(parts: Omit<WriterDeps, 'chance'>, dataDir: string, seed: number): ChapterWriter[] {
  const makers: ((parts: WriterDeps) => ChapterWriter)[] = [
    accountWriter,
    complianceWriter,
    encryptionWriter,
    botWriter,
    qrCodesWriter,
    schedulesWriter,
    solutionsWriter,
    mediaWriter,
    messagesWriter,
    webhooksWriter,
    (own) => new PicturesWriter(own, dataDir),
    (own) => new NumbersWriter(own),
    (own) => new GroupsWriter(own),
    (own) => new CallsWriter(own),
    (own) => new TemplatesWriter(own),
    (own) => new SendingWriter(own),
    operatorsWriter,
    (own) => new SignUpWriter(own),
  ]
  return makers.map((make, index) => make({ ...parts, chance: new Chance(seed * 100 + index) }))
}
