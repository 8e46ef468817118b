import type { FastifyInstance } from 'fastify'
import type { Database } from '../db/database.ts'
import { deepLinkOf, isCode } from '../resources/qr-codes/rules.ts'
import { type ImageFormat, imageFormats } from '../resources/qr-codes/schemas.ts'
import { findQrCodeForAnyone } from '../resources/qr-codes/store.ts'
import { composeMissingPage } from './public/card.ts'
import { composeMessagePage } from './public/message-page.ts'
import { makeQrDrawer } from './public/qr-image.ts'
import { sendMissing, sendPage } from './public/send.ts'

export const qrPaths = ['message', 'qr'] as const

const contentTypes: Readonly<Record<ImageFormat, string>> = { SVG: 'image/svg+xml', PNG: 'image/png' }

/**
 * `/message/{code}` and `/qr/{code}.svg`, `/qr/{code}.png`: anyone who was given a code. The code is looked up at every
 * request, so that nothing answers once it is deleted.
 */
export function openQrPages(server: FastifyInstance, database: Database, publicUrl: () => string): void {
  const draw = makeQrDrawer()
  const missing = composeMissingPage(
    'The business has deleted its QR code, or the address was not copied whole. Ask the business for a new link.',
  )
  const find = async (code: string) => (isCode(code) ? findQrCodeForAnyone(database.read, code) : undefined)

  server.get<{ Params: { code: string } }>('/message/:code', async (request, reply) => {
    request.operationName = 'public.message'
    const qrCode = await find(request.params.code)
    if (!qrCode) return sendMissing(request, reply, missing)
    return sendPage(reply, composeMessagePage(qrCode))
  })

  server.get<{ Params: { file: string } }>('/qr/:file', async (request, reply) => {
    request.operationName = 'public.qr_image'
    const [code = '', extension, ...rest] = request.params.file.split('.')
    const format = imageFormats.find((known) => known.toLowerCase() === extension && rest.length === 0)
    if (!format || !(await find(code))) return sendMissing(request, reply, missing)
    reply.headers({
      'content-type': contentTypes[format],
      'cache-control': 'no-cache',
      'content-security-policy': "default-src 'none'",
      'x-content-type-options': 'nosniff',
    })
    return reply.send(await draw(deepLinkOf(publicUrl(), code), format))
  })
}
