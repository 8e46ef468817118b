import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeDialogAddress } from './dialog-address.ts'

test('the address of the dialog has the redirect address as it was given', () => {
  const redirect_uri = 'https://app.example/connected?from=a&to=b#c d'
  const address = writeDialogAddress('/base', { app_id: '3000000000000001', redirect_uri, state: 'a b' })
  const { pathname, searchParams } = new URL(address, 'http://localhost')
  assert.equal(pathname, '/base/dialog/oauth')
  assert.deepEqual(Object.fromEntries(searchParams), {
    client_id: '3000000000000001',
    redirect_uri,
    state: 'a b',
    response_type: 'code',
  })
})
