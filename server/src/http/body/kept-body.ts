import type { IncomingMessage } from 'node:http'

/** How much of a body is kept. */
export const keptBodyBytes = 16_384

/** A request whose body operators may see: null until it has arrived. */
interface KeptMessage extends IncomingMessage {
  keptBody?: Buffer | null
}

/** Has the body of a request kept when it is read. */
export function keepBodyOf(request: IncomingMessage): void {
  const message: KeptMessage = request
  message.keptBody = null
}

export function isBodyKept(request: IncomingMessage): boolean {
  return (request as KeptMessage).keptBody !== undefined
}

export function keepBody(request: IncomingMessage, bytes: Buffer): void {
  const message: KeptMessage = request
  message.keptBody = Buffer.from(bytes.subarray(0, keptBodyBytes))
}

export function keptBodyOf(request: IncomingMessage): Buffer | undefined {
  return (request as KeptMessage).keptBody ?? undefined
}
