import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DefinedError } from '../../../graph/define-error.ts'
import { GraphError } from '../../../graph/graph-error.ts'
import { chooseVocabulary } from '../../../graph/vocabulary.ts'
import { rateLimitReached } from '../../../limits/errors.ts'
import { codeWrong, tooManyWrongCodes } from '../../phone-numbers/errors.ts'
import { challengeMissing, dialogAppUnknown, dialogScopeUnknown, redirectNotListed, stateTooLong } from './errors.ts'
import { describeProblem, describeWait } from './problems.ts'
import { acceptedUri, composeMessage, declinedUri, formTargetOf, originOf } from './redirect.ts'
import { readDialogRequest } from './request.ts'
import type { DialogQuery } from './schemas.ts'
import { describeScope } from './words.ts'

const listed = 'https://app.example/connected?from=us'
const app = { id: '1', name: 'App', business_id: '2', business_name: 'Partner', redirect_uris: [listed] }
const right: DialogQuery = { client_id: '1', redirect_uri: listed, state: 's', response_type: 'code' }

function read(given: Partial<DialogQuery>, vocabulary: 'msgapp' | 'whatsapp' = 'msgapp') {
  return readDialogRequest({ ...right, ...given }, app, chooseVocabulary(vocabulary))
}

function refuses(given: Partial<DialogQuery>, error: DefinedError): void {
  assert.throws(
    () => read(given),
    (thrown) => thrown instanceof GraphError && thrown.definition.id === error.id,
  )
}

describe('the request of a sign-up', () => {
  test('takes exactly a listed address, and no other that looks like it', () => {
    assert.equal(read({}).redirect_uri, listed)
    for (const other of [
      'https://app.example/Connected?from=us',
      'https://APP.example/connected?from=us',
      'HTTPS://app.example/connected?from=us',
      'https://app.example/connected/?from=us',
      'https://app.example/connected',
      'https://app.example:443/connected?from=us',
      'https://app.example:8443/connected?from=us',
      'https://me@app.example/connected?from=us',
      'https://app.example@evil.example/connected?from=us',
      'https://app.example/connected?from=us&more=1',
      'https://app.example/connected?from=us#top',
      'https://app.example/%63onnected?from=us',
      'https://app.example/x/../connected?from=us',
      'https://app.example\\@evil.example/connected?from=us',
      '//evil.example',
      '//app.example/connected?from=us',
      '/connected?from=us',
      'javascript:alert(1)',
      ` ${listed}`,
      `${listed} `,
      `${listed}\n`,
      'https://app.example.evil.example/connected?from=us',
    ])
      refuses({ redirect_uri: other }, redirectNotListed)
  })

  test('takes no address of an app that lists none, and no app that nobody knows', () => {
    const vocabulary = chooseVocabulary('msgapp')
    const none = { ...app, redirect_uris: null }
    assert.throws(() => readDialogRequest(right, none, vocabulary), { message: redirectNotListed().message })
    assert.throws(() => readDialogRequest(right, undefined, vocabulary), { message: dialogAppUnknown().message })
  })

  test('takes a state of so many bytes', () => {
    assert.equal(read({ state: 'a'.repeat(4096) }).state.length, 4096)
    refuses({ state: 'ä'.repeat(2049) }, stateTooLong)
    refuses({ state: '\u0001'.repeat(1000) }, stateTooLong)
  })

  test('reads scopes in either spelling, once each, and both of a business when none is named', () => {
    const both = ['msgapp_business_management', 'msgapp_business_messaging']
    assert.deepEqual(read({}).scopes, both)
    assert.deepEqual(read({ scope: '' }).scopes, both)
    assert.deepEqual(read({ scope: 'whatsapp_business_messaging' }).scopes, ['msgapp_business_messaging'])
    assert.deepEqual(
      read({ scope: 'business_management msgapp_business_messaging,,whatsapp_business_messaging email' }, 'whatsapp')
        .scopes,
      ['msgapp_business_messaging', 'business_management'],
    )
  })

  test('refuses scopes that no business can agree to', () => {
    for (const scope of [
      'operator',
      'gateway',
      'msgapp_business_messaging,operator',
      'ads_management',
      '<script>',
      'email,public_profile',
    ]) {
      refuses({ scope }, dialogScopeUnknown)
    }
    assert.throws(() => read({ scope: 'x' }, 'whatsapp'), /whatsapp_business_management/)
  })

  test('takes a challenge with and without its method, and no method without one', () => {
    const code_challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
    assert.equal(read({ code_challenge }).code_challenge, code_challenge)
    assert.equal(read({ code_challenge, code_challenge_method: 'S256' }).code_challenge, code_challenge)
    assert.equal(read({}).code_challenge, null)
    refuses({ code_challenge_method: 'S256' }, challengeMissing)
  })

  test('has words for every scope that it takes', () => {
    const all = read({ scope: 'business_management,msgapp_business_management,msgapp_business_messaging' }).scopes
    assert.equal(new Set(all.map((scope) => describeScope(scope).text)).size, 3)
    assert.throws(() => describeScope('operator'))
  })
})

describe('the way back of a sign-up', () => {
  test('adds code and state to the listed address, which stays as it is', () => {
    assert.equal(acceptedUri('https://a.example/x', 'C', 's'), 'https://a.example/x?code=C&state=s')
    assert.equal(acceptedUri('https://a.example', 'C', 's'), 'https://a.example?code=C&state=s')
    assert.equal(acceptedUri('https://a.example/x?', 'C', 's'), 'https://a.example/x?code=C&state=s')
    assert.equal(acceptedUri('https://a.example/x?A=%2f', 'C', 's'), 'https://a.example/x?A=%2f&code=C&state=s')
    assert.equal(
      declinedUri('https://a.example/x', 's'),
      'https://a.example/x?error=access_denied&error_reason=user_denied&state=s',
    )
  })

  test('brings any state back as it was, and nothing else with it', () => {
    for (const state of [
      '&code=other',
      '#',
      '%00',
      'a b+c',
      '"><script>',
      '\r\nset-cookie: a=b',
      '日本 🎉',
      "'",
      '=',
    ]) {
      for (const uri of [acceptedUri('https://a.example/x', 'C', state), declinedUri('https://a.example/x', state)]) {
        assert.match(uri, /^[\x21-\x7e]+$/)
        const { searchParams, hash } = new URL(uri)
        assert.deepEqual([searchParams.getAll('state'), hash], [[state], ''])
        assert.ok(searchParams.getAll('code').every((code) => code === 'C'))
      }
    }
  })

  test('names the origin that hears how it ended, and where forms may lead', () => {
    assert.equal(originOf('https://a.example:443/x?y'), 'https://a.example')
    assert.equal(originOf('http://localhost:3000/x'), 'http://localhost:3000')
    assert.equal(originOf('app://callback'), undefined)
    assert.equal(formTargetOf('https://a.example:8443/x'), 'https://a.example:8443')
    assert.equal(formTargetOf('http://[::1]:3000/x'), 'http:')
  })

  test('says what was chosen, and leaves out what was not', () => {
    const chosen = { business_id: '1', account_id: '2', phone_number_id: '3' }
    assert.deepEqual(composeMessage('FINISH', chosen), {
      type: 'WA_EMBEDDED_SIGNUP',
      event: 'FINISH',
      data: { phone_number_id: '3', waba_id: '2', business_id: '1' },
      version: 3,
    })
    assert.deepEqual(composeMessage('FINISH_ONLY_WABA', { ...chosen, phone_number_id: null }).data, {
      waba_id: '2',
      business_id: '1',
    })
  })
})

describe('what the dialog says of a wait and of wrong codes', () => {
  test('a wait is in seconds below a minute, then in minutes, and one is one', () => {
    const waits = [0.2, 1, 1.5, 59, 59.5, 60, 61, 120, 899.5, 900]
    assert.deepEqual(waits.map(describeWait), [
      ...['1 second', '1 second', '2 seconds', '59 seconds', '1 minute', '1 minute', '2 minutes', '2 minutes'],
      ...['15 minutes', '15 minutes'],
    ])
    const blocked = describeProblem(tooManyWrongCodes({ seconds: 899.5 }))
    assert.deepEqual(blocked, {
      code: 'Too many wrong codes were sent for this phone number; try again in 15 minutes.',
    })
    const { '': text } = describeProblem(rateLimitReached({ count: 1, period: '1m', counted: '', seconds: 60 }))
    assert.equal(text, 'That was asked for too often; try again in 1 minute.')
  })

  test('the tries that are left are counted', () => {
    const says = (left: string) => describeProblem(codeWrong({ left }))['code']
    const newest = 'The code is wrong; type the newest one that the number got.'
    assert.equal(says(' (tries left: 4)'), `${newest} 4 tries are left.`)
    assert.equal(says(' (tries left: 1)'), `${newest} One try is left.`)
    assert.equal(says(' (tries left: 0)'), 'The code is wrong, and no other can be tried for some minutes.')
    assert.equal(says(''), newest)
  })
})
