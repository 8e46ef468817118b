import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../graph/errors.ts'
import type { Page } from './page.ts'

export function sendPage(reply: FastifyReply, { html, headers }: Page): FastifyReply {
  return reply.headers(headers).send(html)
}

/** 404: people get a page, programs the envelope. */
export function sendMissing(request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply {
  reply.header('vary', 'accept')
  if (!request.headers.accept?.includes('text/html')) throw notFound()
  return sendPage(reply.status(404), page)
}
