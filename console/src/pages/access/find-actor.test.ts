import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findActor } from './find-actor.ts'

const apps = [
  { id: '3000000000000001', name: 'Shrub CRM' },
  { id: '3000000000000002', name: 'Twin' },
  { id: '3000000000000003', name: 'Twin' },
  { id: '3000000000000004', name: null },
]

for (const [text, asked] of [
  ['Shrub CRM', '3000000000000001'],
  ['shrub crm', '3000000000000001'],
  ['3000000000000001', '3000000000000001'],
  ['Twin', 'Twin'],
  ['Ada', 'Ada'],
] as const) {
  test(`what “${text}” did is asked for by ${asked}`, () => assert.equal(findActor(text, apps), asked))
}
