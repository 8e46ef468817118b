import { CpuBudget } from '../../base/work/cpu-budget.ts'
import { type Modules, writePng, writeSvg } from './drawing.ts'
import type { ImageFormat } from './schemas.ts'

/** For all together, so that neither many small nor a few large ones fill the memory: some thousands of usual ones. */
const usualKeptBytes = 4 << 20
/** The share of a process's time for drawing codes that strangers ask for. */
const shareOfTime = 0.2
/** The overhead of a cached image. */
const bytesToKeepOne = 256
/** The alphanumeric table of the standard. A run of these takes two thirds of the space. */
const letters = new Set('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:')
const leastRun = 8

type Drawing = Uint8Array | string

/**
 * Makes the function that draws a text as a QR code. Anyone can ask for one, so each is drawn once and cached, and drawing is limited to
 * a share of the time.
 */
export function makeQrDrawer(maxKeptBytes = usualKeptBytes): (text: string, format: ImageFormat) => Promise<Drawing> {
  const kept = new Map<string, Drawing>()
  let keptBytes = 0
  const drawing = new CpuBudget(shareOfTime)

  function forget(key: string): void {
    keptBytes -= sizeOf(key, kept.get(key) ?? '')
    kept.delete(key)
  }

  function keep(key: string, drawn: Drawing): void {
    if (kept.has(key)) forget(key)
    // Moved to the end: the least recently used is first, and is removed first.
    kept.set(key, drawn)
    keptBytes += sizeOf(key, drawn)
    for (const oldest of kept.keys()) {
      if (keptBytes <= maxKeptBytes) break
      forget(oldest)
    }
  }

  async function drawNext(key: string, text: string, format: ImageFormat): Promise<Drawing> {
    // Loaded with the first code that is drawn, and not at every start.
    const { default: QRCode } = await import('qrcode')
    return drawing.run(() => {
      // Concurrent requests for one code share a drawing.
      const known = kept.get(key)
      if (known) return known
      const { modules } = QRCode.create(splitText(text), { errorCorrectionLevel: 'M' })
      return format === 'SVG' ? writeSvg(modules as Modules) : writePng(modules as Modules)
    })
  }

  return async (text, format) => {
    const key = `${format} ${text}`
    const drawn = kept.get(key) ?? (await drawNext(key, text, format))
    keep(key, drawn)
    return drawn
  }
}

function sizeOf(key: string, drawing: Drawing): number {
  return bytesToKeepOne + key.length + drawing.length
}

/** Splits a text into modes. The library can do this by itself, but takes as long for it as for everything else. */
function splitText(text: string) {
  let start = text.length
  while (start > 0 && letters.has(text[start - 1] as string)) start -= 1
  if (text.length - start < leastRun) return [{ data: Buffer.from(text), mode: 'byte' as const }]
  const bytes = { data: Buffer.from(text.slice(0, start)), mode: 'byte' as const }
  return [bytes, { data: text.slice(start), mode: 'alphanumeric' as const }]
}
