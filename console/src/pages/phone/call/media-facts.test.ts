import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  endLastLine,
  findMediaProblem,
  findReasonToEnd,
  hasCandidate,
  type MediaFacts,
  SilenceWatch,
} from './media-facts.ts'

const good: MediaFacts = {
  ...{ refusal: undefined, hasCandidates: true, link: 'connected', silentSeconds: 0, timeout: undefined },
}
const noCandidates = 'The business sent no candidates, and neither could this phone.'
const lost = 'The connection to the business was lost.'
const silent = 'No sound from the business for 20 seconds.'

test('of what stands in the way of the sound, the phone says what explains the rest', () => {
  const cases: [Partial<MediaFacts>, string | undefined][] = [
    [{}, undefined],
    [{ link: 'new' }, undefined],
    [{ link: 'connecting', silentSeconds: 19.9 }, undefined],
    [{ link: 'closed' }, undefined],
    [{ silentSeconds: 20 }, silent],
    [{ silentSeconds: 45 }, silent],
    [{ silentSeconds: 20, timeout: 30 }, silent],
    [{ silentSeconds: 5, timeout: 5 }, 'No sound from the business for 5 seconds.'],
    [{ link: 'disconnected' }, lost],
    [{ link: 'failed', silentSeconds: 30 }, lost],
    [{ link: 'new', hasCandidates: false, silentSeconds: 30 }, noCandidates],
    [{ link: 'failed', hasCandidates: false }, noCandidates],
    [{ link: 'failed', hasCandidates: false, refusal: 'Refused.' }, 'Refused.'],
  ]
  for (const [facts, problem] of cases) {
    assert.equal(findMediaProblem({ ...good, ...facts }), problem, JSON.stringify(facts))
  }
})

test('a phone ends a call whose connection failed, and a silent one only where the service says so', () => {
  const cases: [Partial<MediaFacts>, string | undefined][] = [
    [{}, undefined],
    [{ link: 'disconnected' }, undefined],
    [{ link: 'failed' }, 'lost'],
    [{ silentSeconds: 300 }, undefined],
    [{ silentSeconds: 19, timeout: 20 }, undefined],
    [{ silentSeconds: 20, timeout: 20 }, 'no_media'],
  ]
  for (const [facts, reason] of cases) {
    assert.equal(findReasonToEnd({ ...good, ...facts }), reason, JSON.stringify(facts))
  }
})

test('silence is counted from the beginning, and anew from every packet', () => {
  const watch = new SilenceWatch(5000)
  const seconds = [
    [0, 6000],
    [0, 8000],
    [50, 9000],
    [50, 10_500],
    [51, 30_000],
  ] as const
  assert.deepEqual(
    seconds.map(([packets, now]) => watch.note(packets, now)),
    [1, 3, 0, 1.5, 0],
  )
})

test('a description gets the end of its last line only where it has none', () => {
  assert.equal(endLastLine('v=0\r\na=mid:0'), 'v=0\r\na=mid:0\r\n')
  assert.equal(endLastLine('v=0\r\n'), 'v=0\r\n')
  assert.equal(endLastLine('v=0\n'), 'v=0\n')
})

test('a candidate is a line of its own', () => {
  assert.ok(hasCandidate('v=0\r\na=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n'))
  assert.ok(!hasCandidate('v=0\r\na=tool:a=candidate:1\r\na=end-of-candidates\r\n'))
  assert.ok(!hasCandidate(undefined))
})
