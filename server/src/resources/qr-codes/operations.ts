import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import type { Transaction } from '../../db/database.ts'
import type { Context } from '../../graph/context.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { ErrorStatus } from '../../graph/graph-error.ts'
import { newestFirst } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { qrCodePages } from './pages.ts'
import { drawCode, qrCodeFields, readImageFormat, showMessageQrCode, toMessageQrCode } from './rules.ts'
import { messageQrCodeSchema, oneQrCodeSchema, qrCodeListSchema, qrCodeMembers, qrCodeSchema } from './schemas.ts'
import { deleteQrCode, findQrCode, insertQrCode, listQrCodes, updateQrCode } from './store.ts'
import { qrCodeEntries } from './world.ts'

const qrCodeList = newestFirst(25, 'creation_time', 'code')

const edge = '/{Version}/{Phone-Number-ID}/message_qrdls'
const byCode = `${edge}/{QR-Code-ID}` as const
const codeMember = Type.Object({ 'QR-Code-ID': qrCodeSchema })
/** The parameters of both operations on one code in the specification. */
const errors: readonly ErrorStatus[] = [400, 401, 403, 404, 429, 500]

const exampleQrCode = {
  code: 'ABCDEFGHIJKLMN',
  prefilled_message: 'Hi!',
  deep_link_url: 'http://127.0.0.1:8080/message/ABCDEFGHIJKLMN',
  qr_image_url: 'http://127.0.0.1:8080/qr/ABCDEFGHIJKLMN.svg',
}

export const qrCodesChapter: Chapter = {
  name: 'qr-codes',
  title: 'Message QR codes',
  rows: (vocabulary) => [...qrCodeOperations(vocabulary), ...qrCodePages()],
  world: [qrCodeEntries],
}

function qrCodeOperations(vocabulary: Vocabulary): NewOperation[] {
  return [
    defineRead({
      name: 'qr_codes.read',
      method: 'GET',
      path: byCode,
      sentence: 'Reads one message QR code of a phone number.',
      permission: 'management',
      fields: qrCodeFields,
      errors,
      input: codeMember,
      output: oneQrCodeSchema,
      examples: {
        input: { 'QR-Code-ID': exampleQrCode.code, fields: 'qr_image_url.format(SVG)' },
        output: { data: [exampleQrCode] },
      },
      async run(context, { 'QR-Code-ID': code }) {
        return { data: [await readOne(context, code)] }
      },
    }),
    defineRead({
      name: 'qr_codes.list',
      method: 'GET',
      path: edge,
      sentence: 'Lists the message QR codes of a phone number, newest first, or shows the one that `code` names.',
      permission: 'management',
      fields: qrCodeFields,
      list: qrCodeList,
      input: Type.Object({ code: Type.Optional(qrCodeSchema) }),
      output: qrCodeListSchema,
      examples: {
        input: { limit: 1, fields: 'qr_image_url.format(SVG)' },
        output: {
          data: [exampleQrCode],
          paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
        },
      },
      async run(context, { code }) {
        if (code !== undefined) return { data: [await readOne(context, code)] }
        const { db, node, caller, fields = [], page, publicUrl } = context
        return page.fetch(
          (range) => listQrCodes(db, node, range),
          (row) => showMessageQrCode(row, fields, caller, publicUrl),
        )
      },
    }),
    defineWrite({
      name: 'qr_codes.save',
      method: 'POST',
      path: edge,
      sentence: 'Creates a message QR code for a phone number, or changes the message of the one that `code` names.',
      permission: 'management',
      input: Type.Object({ ...qrCodeMembers, code: Type.Optional(qrCodeSchema) }),
      output: messageQrCodeSchema,
      examples: { input: { prefilled_message: 'Hi!', generate_qr_image: 'SVG' }, output: exampleQrCode },
      async run(context, { code, prefilled_message, generate_qr_image }) {
        const saved = await (code === undefined
          ? create(context, vocabulary, prefilled_message)
          : update(context, code, prefilled_message))
        return toMessageQrCode(saved, context.publicUrl, readImageFormat(generate_qr_image))
      },
    }),
    ...(vocabulary.habits.update_qr_code_by_path
      ? [
          defineWrite({
            name: 'qr_codes.update',
            method: 'POST',
            path: byCode,
            sentence: 'Changes the message of one message QR code.',
            permission: 'management',
            input: Type.Object({ ...codeMember.properties, ...qrCodeMembers }),
            output: messageQrCodeSchema,
            examples: {
              input: { 'QR-Code-ID': exampleQrCode.code, prefilled_message: 'Hi!', generate_qr_image: 'SVG' },
              output: exampleQrCode,
            },
            async run(context, { 'QR-Code-ID': code, prefilled_message, generate_qr_image }) {
              const updated = await update(context, code, prefilled_message)
              return toMessageQrCode(updated, context.publicUrl, readImageFormat(generate_qr_image))
            },
          }),
        ]
      : []),
    defineWrite({
      name: 'qr_codes.delete',
      method: 'DELETE',
      path: byCode,
      sentence: 'Deletes a message QR code for good; its link and its images then give 404.',
      permission: 'management',
      errors,
      input: codeMember,
      output: successSchema,
      examples: { input: { 'QR-Code-ID': 'SPRINGSALE2026' }, output: { success: true } },
      async run({ db, node }, { 'QR-Code-ID': code }) {
        if (!(await deleteQrCode(db, node, code))) throw notFound()
        return { success: true }
      },
    }),
  ]
}

async function readOne({ db, node, caller, fields = [], publicUrl }: Context, code: string) {
  const row = await findQrCode(db, node, code)
  if (!row) throw notFound()
  return showMessageQrCode(row, fields, caller, publicUrl)
}

/** Draws codes until one is unused: almost always the first. */
async function create(
  { db, node, clock, random }: Context<Transaction>,
  vocabulary: Vocabulary,
  prefilled_message: string,
) {
  for (;;) {
    const code = drawCode(random, vocabulary)
    const created = await insertQrCode(db, node, { code, prefilled_message, creation_time: clock.now() })
    if (created) return { code, prefilled_message }
  }
}

async function update({ db, node }: Context<Transaction>, code: string, prefilled_message: string) {
  if (!(await updateQrCode(db, node, code, prefilled_message))) throw notFound()
  return { code, prefilled_message }
}
