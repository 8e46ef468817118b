import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { PushReply } from '../../graph/reply.ts'
import type { PushTarget } from '../../stream/push-event.ts'

/** Sends a response that goes on, and resolves when its connection is closed. */
export async function sendPush(
  reply: FastifyReply,
  { headers, body }: PushReply,
  more: Readonly<Record<string, string>>,
): Promise<void> {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, { ...headers, ...more })
  if (reply.request.method === 'HEAD' || raw.closed) {
    body.abandon()
    raw.end()
    return
  }
  const isClosed = new Promise<void>((resolve) => raw.once('close', resolve))
  body.pushTo(targetOf(raw))
  await isClosed
}

function targetOf(raw: ServerResponse): PushTarget {
  return {
    get isClosed() {
      return raw.closed || raw.writableEnded
    },
    get waitingBytes() {
      return raw.writableLength
    },
    write(text) {
      raw.write(text)
    },
    async drained() {
      if (!raw.writableNeedDrain || raw.closed) return
      await new Promise<void>((resolve) => {
        raw.once('drain', resolve)
        raw.once('close', resolve)
      })
    },
    end() {
      raw.end()
    },
    cut() {
      raw.destroy()
    },
    onClose(listener) {
      raw.once('close', listener)
    },
  }
}
