import type { ImageFormat } from './schemas.ts'

/** Pixels a module of a PNG; a code of a usual address is some 400 pixels wide. */
const pngScale = 10
/** Drawing a PNG keeps a processor busy for some 20 ms, so the images that are asked for most are kept; each has a few kilobytes. */
const maxKept = 200

type Drawing = Uint8Array | string

/** Makes the function that draws a text as a QR code. The quiet zone is the four modules that the standard asks for. */
export function makeQrDrawer(): (text: string, format: ImageFormat) => Promise<Drawing> {
  const kept = new Map<string, Drawing>()

  return async (text, format) => {
    const key = `${format} ${text}`
    const drawing = kept.get(key) ?? (await draw(text, format))
    // Put behind all others: the one that was not asked for longest is in front, and goes first.
    kept.delete(key)
    kept.set(key, drawing)
    const [oldest = key] = kept.keys()
    if (kept.size > maxKept) kept.delete(oldest)
    return drawing
  }
}

async function draw(text: string, format: ImageFormat): Promise<Drawing> {
  // Loaded with the first code that is drawn, and not at every start.
  const { default: QRCode } = await import('qrcode')
  const options = { errorCorrectionLevel: 'M', margin: 4 } as const
  return format === 'SVG'
    ? QRCode.toString(text, { ...options, type: 'svg' })
    : QRCode.toBuffer(text, { ...options, type: 'png', scale: pngScale })
}
