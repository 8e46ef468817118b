import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import { examplePicture } from '../../graph/examples.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { Refusal } from '../../graph/result.ts'
import { uploadsFull } from './errors.ts'
import { makeExpiryHandler } from './expiry.ts'
import { receiveBytes, type Stored, storeUpload } from './receive.ts'
import { checkFileLength, checkOffset, makeHandle, makeUploadId, wrongType } from './rules.ts'
import {
  uploadAppendedSchema,
  uploadAppendSchema,
  uploadCreatedSchema,
  uploadCreateSchema,
  uploadStateSchema,
} from './schemas.ts'
import { deleteUpload, expiryTimer, findUpload, finishUpload, insertUpload, lockUpload } from './store.ts'

const exampleId = 'upload:MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0'
const openUpload = { send: 'uploads.create', take: { pointer: '/id', as: 'Upload-ID' } }

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    upload: true
  }
}

export const uploadsChapter: Chapter = {
  name: 'uploads',
  title: 'Resumable upload',
  nodes: { upload: { placeholder: 'Upload-ID', called: 'an upload', example: 'upload:MTIzNDU2Nzg5MDEy' } },
  rows: uploadOperations,
  timers: (deps) => ({ [expiryTimer]: makeExpiryHandler(deps) }),
}

function uploadOperations(): NewOperation[] {
  return [
    defineWrite({
      name: 'uploads.create',
      method: 'POST',
      path: '/{Version}/{Application-ID}/uploads',
      sentence: 'Opens a resumable upload of a picture, or of a video or PDF for the header of a template.',
      permission: 'management',
      input: uploadCreateSchema,
      output: uploadCreatedSchema,
      examples: {
        input: { file_length: examplePicture.length, file_type: 'image/png', file_name: 'storefront.png' },
        output: { id: exampleId },
      },
      async run({ db, node, clock, random, settings }, input) {
        checkFileLength(input.file_length, input.file_type, settings)
        const id = makeUploadId(random)
        const { business_id } = node
        const expires_time = clock.now() + settings.uploadLifetime
        const bytes = await insertUpload(db, { clock, random }, { ...input, id, business_id, expires_time })
        if (bytes > settings.maxStoredBytes) throw uploadsFull({ max: settings.maxStoredBytes })
        return { id }
      },
    }),
    defineWrite({
      name: 'uploads.append',
      method: 'POST',
      path: '/{Version}/{Upload-ID}',
      sentence:
        'Appends bytes to an upload; the response has the handle when the upload is complete, otherwise the next offset.',
      permission: 'management',
      body: 'raw',
      headers: ['file_offset'],
      input: uploadAppendSchema,
      output: uploadAppendedSchema,
      examples: {
        input: { file_offset: 0 },
        bytes: examplePicture.base64,
        output: { h: 'KUIBYdgSWBXcVAVJlTOXMSLPYiOTQbcdYkLbLzsbKbU' },
        first: [openUpload],
      },
      async prepare(
        { db, node, clock, random, ports, body },
        { file_offset },
      ): Promise<Stored | { file_offset: number }> {
        const reception = { db, node, clock, random, ports }
        const upload = await findUpload(db, node, clock)
        checkOffset(upload, file_offset)
        const arrived = await receiveBytes(reception, upload, body)
        if (arrived < upload.file_length) return { file_offset: arrived }
        return upload.handle === null ? storeUpload(reception, upload) : { outcome: 'stored before' }
      },
      async run({ db, node, clock, random, settings }, _input, prepared) {
        const upload = await lockUpload(db, node, clock)
        // A repeated request, because the response got lost or another request was faster: the same handle.
        if (upload.handle !== null) return { h: upload.handle }
        if ('file_offset' in prepared) return { id: node.id, file_offset: prepared.file_offset }
        // Another request sent too many bytes meanwhile, which reset the upload.
        if (upload.file_offset < upload.file_length) return { id: node.id, file_offset: upload.file_offset }
        switch (prepared.outcome) {
          case 'stored': {
            const handle = makeHandle(random)
            const expires_time = clock.now() + settings.uploadLifetime
            await finishUpload(db, { clock, random }, upload, { handle, sha256: prepared.sha256, expires_time })
            return { h: handle }
          }
          case 'wrong type':
            await deleteUpload(db, { clock, random }, upload)
            return new Refusal(wrongType(upload, prepared.found))
          case 'stored before':
            throw new Error(`${node.id} was stored before but has no handle`)
        }
      },
    }),
    defineRead({
      name: 'uploads.read',
      method: 'GET',
      path: '/{Version}/{Upload-ID}',
      sentence: 'Reports how many bytes of an upload have arrived.',
      permission: 'management',
      input: Type.Object({}),
      output: uploadStateSchema,
      examples: { output: { id: exampleId, file_offset: 0 }, first: [openUpload] },
      async run({ db, node, clock }) {
        const { id, file_offset } = await findUpload(db, node, clock)
        return { id, file_offset }
      },
    }),
  ]
}
