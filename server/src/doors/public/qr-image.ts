import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ImageFormat } from '../../resources/qr-codes/schemas.ts'
import { type Modules, writePng, writeSvg } from './qr-drawing.ts'

/** Together, so that neither many small ones nor a few large ones fill the memory: some thousands of usual ones. */
const maxKeptBytes = 4 << 20
/** What keeping one costs besides its own bytes. */
const bytesToKeepOne = 256
/** What the standard's table of letters has. A run of these is written in two thirds of the room. */
const lettersAtEnd = /[0-9A-Z $%*+\-./:]{8,}$/

type Drawing = Uint8Array | string

/**
 * Makes the function that draws a text as a QR code. Anyone can ask for one, so each is drawn once and kept, and one is drawn at
 * a time: whoever else is waiting has a turn before the next.
 */
export function makeQrDrawer(): (text: string, format: ImageFormat) => Promise<Drawing> {
  const kept = new Map<string, Drawing>()
  let keptBytes = 0
  let last: Promise<unknown> = Promise.resolve()

  function forget(key: string): void {
    keptBytes -= sizeOf(key, kept.get(key) ?? '')
    kept.delete(key)
  }

  function keep(key: string, drawing: Drawing): void {
    if (kept.has(key)) forget(key)
    // Put behind all others: the one that was not asked for longest is in front, and goes first.
    kept.set(key, drawing)
    keptBytes += sizeOf(key, drawing)
    for (const oldest of kept.keys()) {
      if (keptBytes <= maxKeptBytes) break
      forget(oldest)
    }
  }

  async function drawInTurn(key: string, text: string, format: ImageFormat): Promise<Drawing> {
    await nextTurn()
    return kept.get(key) ?? (await draw(text, format))
  }

  return async (text, format) => {
    const key = `${format} ${text}`
    let drawing = kept.get(key)
    if (!drawing) {
      const drawn = last.then(() => drawInTurn(key, text, format))
      last = drawn.catch(() => undefined)
      drawing = await drawn
    }
    keep(key, drawing)
    return drawing
  }
}

function sizeOf(key: string, drawing: Drawing): number {
  return bytesToKeepOne + key.length + drawing.length
}

async function draw(text: string, format: ImageFormat): Promise<Drawing> {
  // Loaded with the first code that is drawn, and not at every start.
  const { default: QRCode } = await import('qrcode')
  const { modules } = QRCode.create(splitText(text), { errorCorrectionLevel: 'M' })
  return format === 'SVG' ? writeSvg(modules as Modules) : writePng(modules as Modules)
}

/** Says which letters go into which table. The library finds that out by itself, but takes as long for it as for everything else. */
function splitText(text: string) {
  const letters = lettersAtEnd.exec(text)?.[0] ?? ''
  const bytes = { data: Buffer.from(text.slice(0, text.length - letters.length)), mode: 'byte' as const }
  return letters === '' ? [bytes] : [bytes, { data: letters, mode: 'alphanumeric' as const }]
}
