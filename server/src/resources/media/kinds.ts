import type { Settings } from '../../graph/settings.ts'

/** The media of messages. Animated stickers may be larger than static ones. */
export type MediaKind = 'image' | 'audio' | 'video' | 'document' | 'sticker' | 'animated sticker'

interface MediaType {
  readonly kind: MediaKind
  /** The file extension of this type. */
  readonly extension: string
}

/** Every accepted type. Static and animated stickers have the same type and differ by their bytes. */
export const mediaTypes = {
  'image/jpeg': { kind: 'image', extension: 'jpg' },
  'image/png': { kind: 'image', extension: 'png' },
  'audio/aac': { kind: 'audio', extension: 'aac' },
  'audio/amr': { kind: 'audio', extension: 'amr' },
  'audio/mpeg': { kind: 'audio', extension: 'mp3' },
  'audio/mp4': { kind: 'audio', extension: 'm4a' },
  'audio/ogg': { kind: 'audio', extension: 'ogg' },
  'video/mp4': { kind: 'video', extension: 'mp4' },
  'video/3gpp': { kind: 'video', extension: '3gp' },
  'text/plain': { kind: 'document', extension: 'txt' },
  'application/pdf': { kind: 'document', extension: 'pdf' },
  'application/msword': { kind: 'document', extension: 'doc' },
  'application/vnd.ms-excel': { kind: 'document', extension: 'xls' },
  'application/vnd.ms-powerpoint': { kind: 'document', extension: 'ppt' },
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': { kind: 'document', extension: 'docx' },
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': { kind: 'document', extension: 'xlsx' },
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': { kind: 'document', extension: 'pptx' },
  'image/webp': { kind: 'sticker', extension: 'webp' },
} as const satisfies Record<string, MediaType>

export type MediaTypeName = keyof typeof mediaTypes

export function isMediaType(type: string | undefined): type is MediaTypeName {
  return type !== undefined && Object.hasOwn(mediaTypes, type)
}

export function maxBytesOf(kind: MediaKind, settings: Settings): number {
  switch (kind) {
    case 'image':
      return settings.maxImageBytes
    case 'audio':
      return settings.maxAudioBytes
    case 'video':
      return settings.maxVideoBytes
    case 'document':
      return settings.maxDocumentBytes
    case 'sticker':
      return settings.maxStickerBytes
    case 'animated sticker':
      return settings.maxAnimatedStickerBytes
  }
}

/** The largest size of any file. */
export function largestMediaBytes(settings: Settings): number {
  const kinds: MediaKind[] = ['image', 'audio', 'video', 'document', 'sticker', 'animated sticker']
  return Math.max(...kinds.map((kind) => maxBytesOf(kind, settings)))
}
