import { Type } from 'typebox'
import type { OpenContext } from '../../graph/context.ts'
import { defineOpen } from '../../graph/define.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import { Reply } from '../../graph/reply.ts'
import { composeMissingPage } from '../../replies/card.ts'
import { replyMissing, replyWithPage } from '../../replies/missing.ts'
import { makeQrDrawer } from './image.ts'
import { composeMessagePage } from './page.ts'
import { deepLinkOf, isCode } from './rules.ts'
import { type ImageFormat, imageFormats } from './schemas.ts'
import { findQrCodeForAnyone } from './store.ts'

const contentTypes: Readonly<Record<ImageFormat, string>> = { SVG: 'image/svg+xml', PNG: 'image/png' }
const missing = composeMissingPage(
  'The business has deleted its QR code, or the address was not copied whole. Ask the business for a new link.',
)

/** The page of a code. The code is looked up at every request, so that a deleted one gets a 404. */
export function qrCodePages(): NewReplyOperation[] {
  const draw = makeQrDrawer()
  return [
    defineOpen({
      name: 'public.message',
      path: '/message/{code}',
      sentence: 'Shows the page of a message link.',
      input: Type.Object({ code: Type.String({ description: 'The code of the link.' }) }),
      content: { 'text/html': Type.String({ contentMediaType: 'text/html' }) },
      missing: 'page',
      examples: { input: { code: 'ABCDEFGHIJKLMN' }, output: undefined },
      async run({ db, headers }, { code }) {
        const qrCode = await find(db, code)
        return qrCode ? replyWithPage(composeMessagePage(qrCode)) : replyMissing(headers, missing)
      },
    }),
    defineOpen({
      name: 'public.qr_image',
      path: '/qr/{file}',
      sentence: 'Draws the QR code of a message link.',
      input: Type.Object({
        file: Type.String({
          description: 'The code of the link, and the format: `.svg` or `.png`.',
        }),
      }),
      content: { 'image/svg+xml': Type.String(), 'image/png': Type.String({ format: 'binary' }) },
      missing: 'page',
      examples: { input: { file: 'ABCDEFGHIJKLMN.svg' }, output: undefined },
      async run({ db, headers, publicUrl }, { file }) {
        const [code = '', extension, ...rest] = file.split('.')
        const format = imageFormats.find((known) => known.toLowerCase() === extension && rest.length === 0)
        if (!format || !(await find(db, code))) return replyMissing(headers, missing)
        return new Reply(
          {
            'content-type': contentTypes[format],
            'cache-control': 'no-cache',
            'content-security-policy': "default-src 'none'",
            'x-content-type-options': 'nosniff',
          },
          await draw(deepLinkOf(publicUrl, code), format),
        )
      },
    }),
  ]
}

async function find(db: OpenContext['db'], code: string) {
  return isCode(code) ? findQrCodeForAnyone(db, code) : undefined
}
