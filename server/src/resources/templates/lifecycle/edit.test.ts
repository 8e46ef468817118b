import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { countStatuses } from '../../../../test/harness/number-calls.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { body, bodyWith, buttons, templateCalls } from '../../../../test/harness/template-calls.ts'
import { day, second } from '../../../base/time/duration.ts'
import {
  approvedCategoryFixed,
  templateCategoryDiffers,
  templateEditEmpty,
  templateEditLimitReached,
  templateKeyFixed,
  templateNotEditable,
} from '../errors.ts'

const other = [{ type: 'BODY', text: 'Something else.' }]

onOneDatabase('edits of templates', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const calls = templateCalls(server)

  /** A template that was approved by itself. */
  async function makeApproved(members: object = {}): Promise<string> {
    const id = await calls.make(members)
    assert.equal((await calls.read(id)).body.status, 'APPROVED')
    return id
  }

  test('edits of templates: 200; it is pending, which is reported, and approved again with the same response', async () => {
    const id = await makeApproved()
    const events = await calls.eventsOf(async () => {
      assert.deepEqual((await calls.edit(id, { components: other })).body, { success: true })
    })
    assert.deepEqual(
      events.map(({ value }) => value.event),
      ['PENDING', 'APPROVED'],
    )
    const { components, status } = (await calls.read(id)).body
    assert.deepEqual([components, status], [other, 'APPROVED'])
    assert.deepEqual((await calls.list({ name_or_content: 'something else' })).body.data[0].id, id)
  })

  test('what is read can be sent back', async () => {
    const id = await makeApproved({
      category: 'AUTHENTICATION',
      components: [
        { type: 'BODY', add_security_recommendation: true },
        { type: 'FOOTER', code_expiration_minutes: 1 },
        buttons({ type: 'OTP', otp_type: 'COPY_CODE' }),
      ],
    })
    const { components, name, language, category, parameter_format } = (await calls.read(id)).body
    const answer = await calls.edit(id, { components, name, language, category, parameter_format })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual((await calls.read(id)).body.components, components)

    const utility = await makeApproved()
    const { body: whole } = await calls.read(utility)
    const again = await calls.edit(utility, whole)
    assert.equal(again.status, 200, again.text)
    assert.equal((await calls.read(utility)).body.message_send_ttl_seconds, whole.message_send_ttl_seconds)
  })

  test('edits of templates: 400 with nothing, with another name or language, and with components that break a rule', async () => {
    const id = await makeApproved({ name: 'fixed' })
    assertError(await calls.edit(id, {}), templateEditEmpty)
    assertError(await calls.edit(id, { name: 'fixed', language: 'en_US' }), templateEditEmpty)
    const renamed = await calls.edit(id, { name: 'loose', components: other })
    assertError(renamed, templateKeyFixed('name', { stored: 'fixed' }))
    assert.equal((await calls.edit(id, { language: 'de', components: other })).status, 400)
    assert.equal((await calls.edit(id, { components: [] })).status, 400)
    assert.equal((await calls.edit(id, { components: [{ type: 'BODY', text: '' }] })).status, 400)
    assert.equal((await calls.edit(id, { message_send_ttl_seconds: 29 })).status, 400)
    assert.deepEqual((await calls.read(id)).body.components, [body])
  })

  test('the life alone is changed without a review, as often as one likes', async () => {
    const id = await makeApproved()
    for (const message_send_ttl_seconds of [30, 60, -1]) {
      assert.equal((await calls.edit(id, { message_send_ttl_seconds })).status, 200)
    }
    const { status, message_send_ttl_seconds } = (await calls.read(id)).body
    assert.deepEqual([status, message_send_ttl_seconds], ['APPROVED', 2_592_000])
  })

  test('edits of templates: 422 when it is disabled', async () => {
    const id = await calls.make()
    const possible = 'APPROVED or PAUSED or REJECTED'
    await calls.review(id, { status: 'DISABLED' })
    assertError(await calls.edit(id, { components: other }), templateNotEditable({ status: 'DISABLED', possible }))
    const life = await calls.edit(id, { message_send_ttl_seconds: 60 })
    assertError(life, templateNotEditable({ status: 'DISABLED', possible }))
  })

  test('the category of an approved one stays; a paused one may have another, unless it has other languages', async () => {
    const id = await makeApproved({ name: 'moving' })
    assertError(await calls.edit(id, { category: 'MARKETING' }), approvedCategoryFixed)
    assert.equal((await calls.edit(id, { category: 'UTILITY', components: other })).status, 200)
    await calls.review(id, { status: 'PAUSED' })
    const german = await calls.make({ name: 'moving', language: 'de' })
    assertError(await calls.edit(id, { category: 'MARKETING' }), templateCategoryDiffers({ category: 'UTILITY' }))
    await calls.delete(german)
    assert.equal((await calls.edit(id, { category: 'MARKETING' })).status, 200)
    const { category, previous_category, components } = (await calls.read(id)).body
    assert.deepEqual([category, previous_category, components], ['MARKETING', 'UTILITY', other])
  })

  test('400 for a format or a category that the components do not fit', async () => {
    const id = await makeApproved({ components: [bodyWith('We have {{1}} and this.', 'a')] })
    await calls.review(id, { status: 'PAUSED' })
    assert.equal((await calls.edit(id, { parameter_format: 'NAMED' })).status, 400)
    assert.equal((await calls.edit(id, { category: 'AUTHENTICATION' })).status, 400)
    const named = {
      parameter_format: 'NAMED',
      components: [
        {
          type: 'BODY',
          text: 'We have {{what}} and this.',
          example: { body_text_named_params: [{ param_name: 'what', example: 'a' }] },
        },
      ],
    }
    assert.equal((await calls.edit(id, named)).status, 200)
    assert.equal((await calls.read(id)).body.parameter_format, 'NAMED')
  })

  test('edits of templates: 429 with the second edit of an approved one in a day, and with the eleventh in 30 days', async () => {
    const id = await makeApproved()
    const edit = () => calls.edit(id, { components: other })
    const start = server.clock.now()
    assert.equal((await edit()).status, 200)
    const again = await edit()
    assertError(again, templateEditLimitReached({ count: 1, period: '1d', seconds: 86_400 }))
    assert.equal(again.headers.get('retry-after'), '86400')
    for (let count = 2; count <= 10; count++) {
      server.clock.advance(start + (count - 1) * day - 1 - server.clock.now())
      assert.equal((await edit()).status, 429)
      server.clock.advance(1)
      assert.equal((await edit()).status, 200, String(count))
    }
    server.clock.advance(2 * day)
    const seconds = (start + 30 * day - server.clock.now()) / second
    assertError(await edit(), templateEditLimitReached({ count: 10, period: '30d', seconds }))
    server.clock.advance(start + 30 * day - server.clock.now())
    assert.equal((await edit()).status, 200)
  })

  test('edits of a rejected or paused one do not count', async () => {
    const id = await makeApproved()
    for (let count = 0; count < 2; count++) {
      await calls.review(id, { status: 'PAUSED' })
      assert.equal((await calls.edit(id, { components: other })).status, 200)
    }
    assert.equal((await calls.edit(id, { components: other })).status, 200)
  })

  test('one of several edits at the same moment', async () => {
    const id = await makeApproved()
    const answers = await Promise.all(Array.from({ length: 4 }, () => calls.edit(id, { components: other })))
    assert.deepEqual(countStatuses(answers), { 200: 1, 429: 3 })
  })
})

onOneDatabase('edits with other limits', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { MAX_TEMPLATE_EDITS: '2/1h' } })
  const calls = templateCalls(server)

  test('an approved template is edited as often as the setting says', async () => {
    const id = await calls.make()
    const statuses: number[] = []
    for (let count = 0; count < 3; count++) {
      statuses.push((await calls.edit(id, { components: other })).status)
    }
    assert.deepEqual(statuses, [200, 200, 429])
  })
})
