import assert from 'node:assert/strict'
import type { Answer, CallOptions } from './client.ts'
import type { TestServer } from './server.ts'
import { accounts, tokens } from './world.ts'

/** Calls the operations of a number's life. */
export function numberCalls(server: TestServer) {
  let last = 2000
  const callRow = (row: string, path: string, options: CallOptions) =>
    server.client.callRow(server.client.row(`phone_numbers.${row}`), path, { token: tokens.owner, ...options })
  const post = (row: string, path: string, json: object = {}, by: string = tokens.owner) =>
    callRow(row, path, { token: by, json })
  const calls = {
    /** Digits of a number that no test has used. */
    freshDigits: () => `1631555${++last}`,
    create: (body: object, account: string = accounts.onBehalf, by?: string) =>
      post('create', `/v23.0/${account}/phone_numbers`, body, by),
    requestCode: (id: string, body: object = { code_method: 'SMS', language: 'en_US' }) =>
      post('request_code', `/v23.0/${id}/request_code`, body),
    verify: (id: string, code: string) => post('verify_code', `/v23.0/${id}/verify_code`, { code }),
    register: (id: string, pin = '123456') =>
      post('register', `/v23.0/${id}/register`, { messaging_product: 'msgapp', pin }),
    deregister: (id: string) => post('deregister', `/v23.0/${id}/deregister`),
    set: (id: string, settings: object, by?: string) => post('update_settings', `/v23.0/${id}`, settings, by),
    /** What the built-in carrier was given for a number, newest first. */
    async outbox(digits: string): Promise<{ kind: string; code: string; language: string; to: string }[]> {
      const answer = await server.client.get('/gateway/outbox', { token: tokens.gateway, query: { to: digits } })
      assert.equal(answer.status, 200)
      return answer.body.data
    },
    async newestCode(digits: string): Promise<string> {
      const [newest] = await calls.outbox(digits)
      assert.ok(newest, 'a code was sent')
      return newest.code
    },
    /** A new number with its newest code. */
    async createWithCode(): Promise<{ id: string; digits: string; code: string }> {
      const digits = calls.freshDigits()
      const answer = await calls.create({ phone_number: digits, verified_name: 'Lucky Shrub' })
      assert.equal(answer.status, 200, answer.text)
      return { id: answer.body.id, digits, code: await calls.newestCode(digits) }
    },
    async createVerified(): Promise<string> {
      const { id, code } = await calls.createWithCode()
      assert.equal((await calls.verify(id, code)).status, 200)
      return id
    },
    /** All that the two single reads and the list show of a number. */
    async states(id: string) {
      const row = await server.database.read.query
        .selectFrom('phone_numbers')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      const account = row.account_number_id
      const single = await callRow('read_account_number', `/v23.0/${account}`, {
        query: { fields: 'status,code_verification_status,name_status' },
      })
      const list = await callRow('list', `/v23.0/${row.account_id}/phone_numbers`, {
        query: { limit: '100', fields: 'id,status,unified_cert_status,host_platform' },
      })
      const { status: link, ...listed } = list.body.data.find((item: { id: string }) => item.id === id)
      return { ...single.body, link, ...listed, registered: row.registered, epoch: row.registration_epoch, row }
    },
  }
  return calls
}

export function countStatuses(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** A code that is not the one given. */
export function otherThan(code: string, offset = 1): string {
  return String((Number(code) + offset) % 1_000_000).padStart(6, '0')
}
