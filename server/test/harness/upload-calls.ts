import assert from 'node:assert/strict'
import type { TestServer } from './server.ts'
import { ids, tokens } from './world.ts'

/** Uploads a whole picture at once, and returns its handle. */
export async function uploadPicture(
  { client }: Pick<TestServer, 'client'>,
  picture: Buffer,
  {
    token = tokens.owner,
    application = ids.application,
    type = 'image/png',
  }: { token?: string; application?: string; type?: string } = {},
): Promise<string> {
  const json = { file_length: picture.length, file_type: type }
  const opened = await client.post(`/v23.0/${application}/uploads`, { token, json })
  assert.equal(opened.status, 200, opened.text)
  const headers = { file_offset: '0' }
  const finished = await client.post(`/v23.0/${opened.body.id}`, { token, raw: picture, headers })
  assert.ok(finished.body.h, finished.text)
  return finished.body.h
}
