import { duration, integer } from '../base/setting-parsers.ts'
import { day, hour } from '../base/time/duration.ts'
import { define, defineMaxBytes, kibibyte, mebibyte } from './setting.ts'

/** Media files and resumable uploads: their sizes and lifetimes. */
export const mediaSettings = {
  maxImageBytes: defineMaxBytes('MAX_IMAGE_BYTES', 'The largest image (jpeg, png) in bytes.', 5 * mebibyte),
  maxAudioBytes: defineMaxBytes(
    'MAX_AUDIO_BYTES',
    'The largest audio file (aac, amr, mpeg, mp4, ogg) in bytes.',
    16 * mebibyte,
  ),
  maxVideoBytes: defineMaxBytes('MAX_VIDEO_BYTES', 'The largest video (mp4, 3gpp) in bytes.', 16 * mebibyte),
  maxDocumentBytes: defineMaxBytes(
    'MAX_DOCUMENT_BYTES',
    'The largest document (txt, pdf, doc, docx, xls, xlsx, ppt, pptx) in bytes.',
    100 * mebibyte,
  ),
  maxStickerBytes: defineMaxBytes('MAX_STICKER_BYTES', 'The largest sticker (webp) in bytes.', 100 * kibibyte),
  maxAnimatedStickerBytes: defineMaxBytes(
    'MAX_ANIMATED_STICKER_BYTES',
    'The largest sticker that moves (webp) in bytes.',
    500 * kibibyte,
  ),
  maxMediaTextBytes: defineMaxBytes(
    'MAX_MEDIA_TEXT_BYTES',
    'The largest JSON or form body that holds a media file as text, in bytes; larger files need multipart/form-data.',
    16 * mebibyte,
  ),
  mediaLifetime: define({
    name: 'MEDIA_LIFETIME',
    group: 'platform',
    shownDefault: '30d',
    sentence: 'How long a media file is kept after its upload.',
    parse: duration,
    fallback: () => 30 * day,
  }),
  maxUploadBytes: define({
    name: 'MAX_UPLOAD_BYTES',
    group: 'platform',
    shownDefault: '5242880',
    sentence: 'The largest file of a resumable upload in bytes.',
    parse: integer(1, 1 << 30),
    fallback: () => 5_242_880,
  }),
  maxStoredBytes: define({
    name: 'MAX_STORED_BYTES',
    group: 'platform',
    shownDefault: '100000000000',
    sentence:
      'How many bytes of media files an account, and of resumable uploads a business, can have stored; more are refused with 422.',
    parse: integer(1, Number.MAX_SAFE_INTEGER),
    fallback: () => 100_000_000_000,
  }),
  uploadLifetime: define({
    name: 'UPLOAD_LIFETIME',
    group: 'platform',
    shownDefault: '24h',
    sentence: 'How long a resumable upload stays open, and how long its handle is valid.',
    parse: duration,
    fallback: () => 24 * hour,
  }),
}
