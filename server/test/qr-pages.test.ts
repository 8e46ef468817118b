import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import jsqr from 'jsqr'
import { PNG } from 'pngjs'
import { onOneDatabase } from './harness/databases.ts'
import { type TestServer, useTestServer } from './harness/server.ts'
import { numbers, qrCodes, testWorld, tokens } from './harness/world.ts'

const token = tokens.owner
const asBrowser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8' }

/** What a camera would read off an image of black and white. */
function scan(pixels: Uint8ClampedArray, width: number, height: number): string | undefined {
  return jsqr.default(pixels, width, height)?.data
}

function scanPng(bytes: Uint8Array): string | undefined {
  const { data, width, height } = PNG.sync.read(Buffer.from(bytes))
  return scan(new Uint8ClampedArray(data), width, height)
}

/** Paints the runs of dark modules (`M x y`, `h length`, `m dx 0`) that the drawing consists of, four pixels a module. */
function scanSvg(svg: string): string | undefined {
  const [, side = ''] = /viewBox="0 0 (\d+) \1"/.exec(svg) ?? []
  const [, path = ''] = /stroke="#000000" d="([^"]+)"/.exec(svg) ?? []
  const width = Number(side) * 4
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255)
  let [x, y] = [0, 0]
  for (const [, command, first = '', second = ''] of path.matchAll(/([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?/g)) {
    if (command === 'M') [x, y] = [Number(first), Math.floor(Number(second))]
    else if (command === 'm') x += Number(first)
    else {
      for (let row = y * 4; row < (y + 1) * 4; row++) {
        const start = row * width + x * 4
        for (let pixel = start; pixel < start + Number(first) * 4; pixel++) pixels.fill(0, pixel * 4, pixel * 4 + 3)
      }
      x += Number(first)
    }
  }
  return scan(pixels, width, width)
}

async function fetchBytes(url: string): Promise<{ status: number; headers: Headers; bytes: Uint8Array }> {
  const response = await fetch(url)
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
}

async function create(server: TestServer, json: object) {
  const { body } = await server.client.post(`/v23.0/${numbers.main}/message_qrdls`, { token, json })
  return body as { code: string; deep_link_url: string; qr_image_url: string }
}

onOneDatabase('what a message QR code leads to', 'sqlite', (engine) => {
  const world = testWorld()
  const account = {
    id: '1000000000000006',
    business_id: world.accounts[0]?.business_id,
    name: 'Hostile',
    phone_numbers: [
      {
        id: '4000000000000061',
        display_phone_number: '+1 631-555-1061',
        verified_name: '<img src=x onerror=alert(1)> & "Sons"',
        qr_codes: [{ code: 'HOSTILEMESSAGE', prefilled_message: '</blockquote><script>alert("hi")</script>' }],
      },
    ],
  }
  const server = useTestServer({ engine, world: { ...world, accounts: [...world.accounts, account] } })

  test('the link opens a page with the business, its number and the message', async () => {
    const { deep_link_url } = await create(server, { prefilled_message: 'Is the fig tree\nstill there? 🌳' })
    const response = await fetch(deep_link_url)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
    const html = await response.text()
    for (const shown of ['Lucky Shrub', '+1 631-555-1001', 'Is the fig tree\nstill there? 🌳']) {
      assert.ok(html.includes(shown), shown)
    }
  })

  test('a message that was changed is shown under the old link', async () => {
    const { code, deep_link_url } = await create(server, { prefilled_message: 'Before' })
    await create(server, { code, prefilled_message: 'Afterwards' })
    const html = await (await fetch(deep_link_url)).text()
    assert.match(html, /Afterwards/)
    assert.doesNotMatch(html, /Before/)
  })

  test('names and messages of a QR code are text on its page, and the policy would let nothing of them run', async () => {
    const answer = await server.client.get('/message/HOSTILEMESSAGE')
    assert.equal(answer.status, 200)
    assert.ok(answer.text.includes('&lt;/blockquote&gt;&lt;script&gt;alert(&quot;hi&quot;)&lt;/script&gt;'))
    assert.ok(answer.text.includes('&lt;img src=x onerror=alert(1)&gt; &amp; &quot;Sons&quot;'))
    assert.doesNotMatch(answer.text, /<script|<img/)
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(answer.text) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    const policy = answer.headers.get('content-security-policy') ?? ''
    assert.ok(policy.startsWith(`default-src 'none'; style-src 'sha256-${hash}'; img-src data:;`), policy)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(answer.text, /(?:src|href)="(?!data:)/, 'the page loads nothing')
  })

  test('the PNG holds exactly the link', async () => {
    const { deep_link_url, qr_image_url } = await create(server, { prefilled_message: 'Hi', generate_qr_image: 'PNG' })
    const { status, headers, bytes } = await fetchBytes(qr_image_url)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'image/png')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(scanPng(bytes), deep_link_url)
    assert.deepEqual((await fetchBytes(qr_image_url)).bytes, bytes, 'and so it does when it is asked for again')
  })

  test('the SVG holds exactly the link', async () => {
    const { deep_link_url, qr_image_url } = await create(server, { prefilled_message: 'Hi', generate_qr_image: 'SVG' })
    const { status, headers, bytes } = await fetchBytes(qr_image_url)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'image/svg+xml')
    assert.equal(headers.get('content-security-policy'), "default-src 'none'")
    assert.equal(scanSvg(new TextDecoder().decode(bytes)), deep_link_url)
  })

  test('the link and both images answer 404 after the code is deleted', async () => {
    const { code } = await create(server, { prefilled_message: 'Soon gone' })
    const paths = [`/message/${code}`, `/qr/${code}.svg`, `/qr/${code}.png`]
    for (const path of paths) assert.equal((await server.client.get(path)).status, 200, path)
    await server.client.delete(`/v23.0/${numbers.main}/message_qrdls/${code}`, { token })
    for (const path of paths) {
      const answer = await server.client.get(path)
      assert.deepEqual([answer.status, answer.body.error.code], [404, 803], path)
    }
  })

  test('404 is a page for a browser, and the envelope for a program', async () => {
    for (const path of ['/message/NOSUCHCODE0000', '/qr/NOSUCHCODE0000.png']) {
      const page = await fetch(`${server.url}${path}`, { headers: asBrowser })
      assert.equal(page.status, 404)
      assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(page.headers.get('vary'), 'accept')
      assert.match(await page.text(), /This link is no longer valid/)
      assert.equal((await server.client.get(path)).body.error.code, 803)
    }
  })

  for (const path of [
    '/message/short',
    '/message/%00%00%00%00%00%00%00%00%00%00%00%00%00%00',
    `/message/${qrCodes.main.toLowerCase()}`,
    `/qr/${qrCodes.main}`,
    `/qr/${qrCodes.main}.gif`,
    `/qr/${qrCodes.main}.PNG`,
    `/qr/${qrCodes.main}.svg.png`,
    '/qr/.png',
    '/message/..%2f..%2fetc%2fpasswd',
  ]) {
    test(`what a message QR code leads to: 404 for ${path}`, async () =>
      assert.equal((await server.client.get(path)).status, 404))
  }

  test('HEAD answers with the headers alone', async () => {
    for (const path of [`/message/${qrCodes.main}`, `/qr/${qrCodes.main}.png`]) {
      const answer = await server.client.call('HEAD', path)
      assert.equal(answer.status, 200)
      assert.ok(Number(answer.headers.get('content-length')) > 0)
      assert.equal(answer.text, '')
    }
  })
})

describe('behind a proxy that adds a path', () => {
  const publicUrl = 'https://api.example.com/graph'
  const server = useTestServer({ engine: 'sqlite', env: { PUBLIC_URL: publicUrl } })

  test('links have it, and so has what the image holds', async () => {
    const created = await create(server, { prefilled_message: 'Hi', generate_qr_image: 'PNG' })
    assert.equal(created.deep_link_url, `${publicUrl}/message/${created.code}`)
    assert.equal(created.qr_image_url, `${publicUrl}/qr/${created.code}.png`)
    const { bytes } = await fetchBytes(created.qr_image_url.replace(publicUrl, server.url))
    assert.equal(scanPng(bytes), created.deep_link_url)
  })
})

describe('with the vocabulary of the client libraries', () => {
  const server = useTestServer({ engine: 'sqlite', env: { VOCABULARY: 'whatsapp' } })
  const path = `/${numbers.main}/message_qrdls/${qrCodes.main}`

  test('with the vocabulary of the client libraries: 200 for POST on the code itself, which changes its message', async () => {
    const operation = server.client.row('qr_codes.update')
    const json = { prefilled_message: 'By path', generate_qr_image: 'png', code: qrCodes.spare }
    const { status, body } = await server.client.callRow(operation, path, { token, json })
    assert.equal(status, 200)
    assert.deepEqual(body, {
      code: qrCodes.main,
      prefilled_message: 'By path',
      deep_link_url: `${server.url}/message/${qrCodes.main}`,
      qr_image_url: `${server.url}/qr/${qrCodes.main}.png`,
    })
    const read = await server.client.get(path, { token })
    assert.equal(read.body.data[0].prefilled_message, 'By path')
  })

  test('with the vocabulary of the client libraries: 400 for one that there is not, 400 for what is no code or no message', async () => {
    const post = (code: string, json: object) =>
      server.client.post(`/${numbers.main}/message_qrdls/${code}`, { token, json })
    assert.equal((await post('NOSUCHCODE0000', { prefilled_message: 'Hi' })).status, 400)
    assert.equal((await post(qrCodes.stranger, { prefilled_message: 'Hi' })).status, 400)
    assert.equal((await post('short', { prefilled_message: 'Hi' })).status, 400)
    assert.equal((await post(qrCodes.main, {})).status, 400)
  })

  test('pages and images are doors of their own, not ids without a version', async () => {
    assert.equal((await server.client.get(`/message/${qrCodes.main}`)).status, 200)
    assert.equal((await server.client.get(`/qr/${qrCodes.main}.svg`)).status, 200)
  })
})
