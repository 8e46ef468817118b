import { Type } from 'typebox'
import { unlessEmpty } from '../../world-part/entries.ts'
import { defineWorldPart, exportValue } from '../../world-part/part.ts'
import { Repeats } from '../../world-part/problems.ts'
import { readRows, upsertChanged } from '../../world-part/rows.ts'
import { numberEntries } from '../phone-numbers/world.ts'
import { prefilledMessageSchema, qrCodeSchema } from './schemas.ts'

export const qrCodeEntries = defineWorldPart({
  key: 'qr_codes',
  form: 'list',
  under: numberEntries,
  schema: Type.Object({ code: qrCodeSchema, prefilled_message: prefilledMessageSchema }),
  checkFile(problems) {
    const codes = new Repeats(problems)
    return ({ given, place }) => codes.note(given.code, `${place}.code`, 'that code')
  },
  async checkStore(qrCodes, { tx, problems }) {
    const codes = new Map(qrCodes.map((code) => [code.given.code, code]))
    for await (const row of readRows(tx, 'qr_codes', 'code', ['code', 'phone_number_id'], [...codes.keys()])) {
      const code = codes.get(row.code)
      if (!code || code.parent.given.id === row.phone_number_id) continue
      problems.add(`${code.place}.code`, `the store has that code for number ${row.phone_number_id}; choose another.`)
    }
  },
  write: (qrCodes, context) =>
    upsertChanged(
      context,
      {
        table: 'qr_codes',
        key: ['code'],
        keyOf: ({ given }) => [given.code],
        nodeOf: ({ parent }) => parent.given.id,
        create: ({ given, parent }) => ({ ...given, phone_number_id: parent.given.id, creation_time: context.now }),
        change: ({ given: { prefilled_message } }) => ({ prefilled_message }),
      },
      qrCodes,
    ),
  export: exportValue({
    table: 'qr_codes',
    of: 'phone_number_id',
    order: ['code'],
    toValue: (codes) => unlessEmpty(codes.map(({ code, prefilled_message }) => ({ code, prefilled_message }))),
  }),
})
