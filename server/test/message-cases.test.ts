import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const sending = 'src/resources/messages/send/sending.test.ts'
const kinds = 'src/resources/messages/content/kinds.test.ts'
const marks = 'src/resources/messages/send/marks-and-keys.test.ts'
const links = 'src/resources/messages/links/links.test.ts'
const templateSending = 'src/resources/messages/send/template-sending.test.ts'
const retention = 'src/resources/messages/retention/message-retention.test.ts'
const users = 'src/resources/users/users.test.ts'
const files = 'src/resources/users/message-files.test.ts'
const stream = 'src/resources/users/stream.test.ts'
const templates = 'src/resources/templates/templates.test.ts'
const components = 'src/resources/templates/components/components.test.ts'
const fill = 'src/resources/templates/sending/fill.test.ts'
const review = 'src/resources/templates/lifecycle/review.test.ts'
const edit = 'src/resources/templates/lifecycle/edit.test.ts'

/** What proves each case of the list at the end of docs/spec/messages.md: a file, and a part of the name of a test in it. */
const proofs: Readonly<Record<number, readonly [file: string, test: string][]>> = {
  1: [[sending, 'a text in an open window']],
  2: [[sending, 'a text in an open window']],
  3: [[sending, 'a text in an open window']],
  4: [[sending, '400 for a recipient who cannot exist']],
  5: [
    [kinds, ': each limit at its edge'],
    [kinds, ': 400 that names the place'],
  ],
  6: [
    [kinds, 'the member of the kind is required'],
    [sending, '400 for a kind that is unknown'],
  ],
  7: [[sending, 'the window is open for 24 hours']],
  8: [
    [sending, 'the window is open for 24 hours'],
    [users, 'what a user writes opens the window'],
  ],
  9: [[users, "a user's call opens the window"]],
  10: [[templateSending, 'without a window: 200']],
  11: [[sending, 'refused at once for the state of the number']],
  12: [[sending, 'refused at once for the state of the number']],
  13: [
    [sending, 'fails later for another number'],
    [templateSending, 'an unreachable user comes before'],
  ],
  14: [[sending, 'the 81st request in a second']],
  15: [[sending, 'the 46th message to one user']],
  16: [[sending, 'the 81st request in a second: 429, 130429, before anything is read; platform does not count']],
  17: [
    [templateSending, 'the 51st user of a TIER_50'],
    [templateSending, 'each tier ends with its last user'],
  ],
  18: [[kinds, 'a media file by its id']],
  19: [
    [links, '200 first; then it is fetched'],
    [links, 'a file of the largest size'],
    [links, 'tried twice after 5xx'],
    [links, 'where internal addresses are not allowed'],
  ],
  20: [[kinds, ': 400 that names the place']],
  21: [[files, 'a voice message takes Ogg']],
  22: [
    [kinds, ': each limit at its edge'],
    [kinds, ': 400 that names the place'],
  ],
  23: [
    [kinds, ': each limit at its edge'],
    [kinds, ': 400 that names the place'],
  ],
  24: [
    [kinds, ': each limit at its edge'],
    [kinds, ': 400 that names the place'],
  ],
  25: [
    [kinds, ': each limit at its edge'],
    [kinds, ': 400 that names the place'],
  ],
  26: [[users, 'a call permission request: pending']],
  27: [[marks, 'a reply shows what it quotes']],
  28: [[marks, 'a group: one sent for all']],
  29: [
    [marks, 'mark as read: earlier ones'],
    [stream, 'tells messages of both directions'],
  ],
  30: [
    [marks, 'an Idempotency-Key gives the first response'],
    [marks, 'two requests of one key at the same moment'],
    ['test/message-keys.test.ts', 'on two processes send one message'],
    ['test/many-processes.long.test.ts', 'send one message for an Idempotency-Key'],
  ],
  31: [[marks, 'blocked: only who wrote lately']],
  32: [[marks, 'blocked: only who wrote lately']],
  33: [
    [users, 'offline: a message waits'],
    [sending, 'a text in an open window'],
  ],
  34: [[users, 'a report that skips']],
  35: [[users, 'a report that skips']],
  36: [
    [users, 'a report that skips'],
    ['src/resources/messages/status/states.test.ts', 'goes where the table says'],
  ],
  37: [[users, 'auto_read reads a second after delivery']],
  38: [
    [files, 'a voice message takes Ogg'],
    [users, 'a report that skips'],
  ],
  39: [[sending, 'a reaction is sent and nothing else']],
  40: [
    [templateSending, 'without a window: 200'],
    [sending, 'a conversation lasts for 24 hours'],
  ],
  41: [
    [sending, 'a text in an open window'],
    [kinds, 'biz_opaque_callback_data up to 512'],
  ],
  42: [
    [users, 'a message past its life'],
    [templateSending, 'a message that is delivered within the life'],
  ],
  43: [
    [templates, 'newest first, page by page'],
    [templates, '200 PENDING; with the response they are approved'],
  ],
  44: [[templates, '422 with a name and language that are there']],
  45: [[components, 'status} with']],
  46: [[components, 'status} with']],
  47: [[components, 'status} with']],
  48: [
    [templateSending, 'named parameters come in any order'],
    [fill, 'come in any order'],
  ],
  49: [[templateSending, 'each refusal with its status and code']],
  50: [
    [templateSending, 'headers with a file by its id'],
    [templateSending, 'each refusal with its status and code'],
    [links, 'in headers of interactive messages and templates'],
  ],
  51: [[templateSending, 'an authentication template: the code']],
  52: [
    [review, 'waits, is rejected with a reason'],
    [review, 'reach the callback of the account'],
  ],
  53: [[edit, '429 with the second edit of an approved one']],
  54: [
    [templates, 'by name in every language'],
    [templates, 'the name of an approved one rests'],
  ],
  55: [
    [templates, '404 for a stranger'],
    [sending, '404 on the number of another tenant'],
    [sending, '403 without the permission'],
  ],
  56: [
    [users, 'a press hands in the answer'],
    [templateSending, 'a press of a quick reply'],
  ],
  57: [[users, 'a press hands in the answer']],
  58: [
    [templateSending, 'a user who stopped marketing'],
    [users, 'a change of marketing is told once'],
  ],
  59: [[users, 'a user who blocked the number gets nothing']],
  60: [[users, 'the gateway and the receiver give the same event']],
  61: [
    [stream, 'tells messages of both directions'],
    [stream, 'Last-Event-ID goes on from there'],
    [stream, 'reset, then what is new'],
    [stream, 'listeners hear what they ask for'],
  ],
  62: [
    [retention, 'contents go after MESSAGE_BODY_KEEP'],
    [retention, 'what messages said is nowhere in the store afterwards'],
    [retention, 'values are emptied only where contents go'],
    ['test/forget-command.test.ts', 'erases contents, name and settings'],
  ],
  63: [
    ['test/killed-timers.long.test.ts', 'is fetched again by the next process'],
    ['test/crash-writes.test.ts', 'a server that is killed at any moment amid writes'],
  ],
  64: [
    ['test/vocabulary-messages.test.ts', 'of every kind that it knows'],
    [templates, 'are the same'],
  ],
}

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

test('every case of the specification of messages has its proof', () => {
  const list = read('../docs/spec/messages.md').split('## What a conformance test checks')[1] ?? ''
  const cases = [...list.matchAll(/\| (\d+) \| /g)].map(([, number]) => Number(number)).sort((a, b) => a - b)
  assert.deepEqual(cases, Object.keys(proofs).map(Number))
  for (const [number, tests] of Object.entries(proofs)) {
    for (const [file, name] of tests) {
      const isThere = read(file)
        .split('\n')
        .some((line) => /\btest\(/.test(line) && line.includes(name))
      assert.ok(isThere, `case ${number}: ${file} has no test "${name}"`)
    }
  }
})
