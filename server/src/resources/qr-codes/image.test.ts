import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PNG } from 'pngjs'
import QRCode from 'qrcode'
import { makeQrDrawer } from './image.ts'

describe('the drawer of QR codes', () => {
  const texts = ['', '2', 'long-name-of-a-host.and-one-more.'].map(
    (name) => `https://${name}switchboard.example/message/ABCDEFGHIJKLMN`,
  )

  for (const text of texts) {
    test(`the drawer of QR codes draws ${text} pixel by pixel as the library would`, async () => {
      const draw = makeQrDrawer()
      // The same letters in the same tables, which the library would look for by itself.
      const segments = [
        { data: Buffer.from(text.slice(0, -15)), mode: 'byte' as const },
        { data: text.slice(-15), mode: 'alphanumeric' as const },
      ]
      const options = { errorCorrectionLevel: 'M', margin: 4 } as const
      const expected = PNG.sync.read(await QRCode.toBuffer(segments, { ...options, type: 'png', scale: 10 }))
      const drawn = PNG.sync.read(Buffer.from(await draw(text, 'PNG')))
      assert.deepEqual([drawn.width, drawn.height], [expected.width, expected.height])
      assert.ok(drawn.data.equals(expected.data))
      assert.equal(await draw(text, 'SVG'), await QRCode.toString(segments, { ...options, type: 'svg' }))
    })
  }

  test('the drawer of QR codes keeps what it drew, as long as there is room for it', async () => {
    const draw = makeQrDrawer(10_000)
    const first = await draw('first', 'PNG')
    assert.equal(await draw('first', 'PNG'), first)
    for (let index = 0; index < 8; index++) {
      await draw(`${index}`, 'PNG')
      assert.equal(await draw('first', 'PNG'), first, 'what is asked for often stays')
    }
    for (let index = 0; index < 20; index++) await draw(`${index}`, 'PNG')
    assert.notEqual(await draw('first', 'PNG'), first)
  })
})
