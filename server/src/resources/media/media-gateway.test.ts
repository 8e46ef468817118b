import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { CallOptions } from '../../../test/harness/client.ts'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { gif, png } from '../../../test/harness/media-files.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { numbers, tokens } from '../../../test/harness/world.ts'

onOneDatabase('what users send through the gateway', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const upload = (options: CallOptions) => server.client.post('/gateway/media', { token: tokens.gateway, ...options })

  function formOf(file: Buffer, phone_number_id: string): Record<string, string | Blob> {
    return { file: new Blob([new Uint8Array(file)]), phone_number_id }
  }

  async function countMedia(): Promise<number> {
    return (await server.database.read.query.selectFrom('media').select('id').execute()).length
  }

  test('what users send through the gateway: 200 by multipart and as text; the business that has the number fetches it, another does not', async () => {
    for (const options of [
      { multipart: formOf(png, numbers.main) },
      { json: { phone_number_id: numbers.main, file: png.toString('base64') } },
    ]) {
      const { status, body, text } = await upload(options)
      assert.equal(status, 200, text)
      const { id, ...rest } = body
      const sha256 = createHash('sha256').update(png).digest('hex')
      assert.deepEqual(rest, { mime_type: 'image/png', sha256, file_size: png.length })
      const { body: mediaFile } = await server.client.get(`/v23.0/${id}`, { token: tokens.owner })
      assert.deepEqual([mediaFile.mime_type, mediaFile.sha256], ['image/png', sha256])
      const response = await fetch(mediaFile.url, { headers: { authorization: `Bearer ${tokens.owner}` } })
      assert.ok(png.equals(Buffer.from(await response.arrayBuffer())))
      const query = { phone_number_id: numbers.main }
      assert.equal((await server.client.get(`/v23.0/${id}`, { token: tokens.owner, query })).status, 200)
      assert.equal((await server.client.get(`/v23.0/${id}`, { token: tokens.stranger })).status, 404)
    }
  })

  for (const [name, options, status, message] of [
    ['a number that there is not', { multipart: formOf(png, '4999999999999999') }, 404, /^No such object/],
    ['an account that is not a number', { multipart: formOf(png, '1000000000000001') }, 404, /^No such object/],
    ['no number', { json: { file: png.toString('base64') } }, 400, /^phone_number_id: it is required/],
    ['no file', { json: { phone_number_id: numbers.main } }, 400, /^file: it is required/],
    [
      'a file of another type',
      { multipart: formOf(gif, numbers.main) },
      400,
      /^file: its bytes are of the type image\/gif/,
    ],
  ] as const) {
    test(`${status} for ${name}, and nothing is kept`, async () => {
      const before = await countMedia()
      const answer = await upload(options)
      assert.equal(answer.status, status, answer.text)
      assert.match(answer.body.error.message, message)
      assert.equal(await countMedia(), before)
    })
  }
})
