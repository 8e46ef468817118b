import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { byForm } from '../../../test/harness/form.ts'
import { LaneModel, type LaneModelOptions, type ModelAction, modelActions } from '../../../test/harness/lane-model.ts'
import { fc } from '../../../test/harness/properties.ts'

/** What happens often, so that lanes live long enough for what is rare to matter. */
const usual: readonly ModelAction[] = [
  ...([
    'raise',
    'raise',
    'raise_here',
    'hand_over',
    'claim',
    'claim',
    'begin_read',
    'begin_read',
    'end_read',
    'end_read',
  ] as const),
  ...(['send', 'send', 'send', 'succeed', 'fail', 'fail', 'begin_store', 'begin_store', 'end_store', 'wait'] as const),
]
const someAction = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...usual) },
  { weight: 1, arbitrary: fc.constantFrom(...modelActions) },
)
const actions = fc.array(fc.record({ action: someAction, choice: fc.nat({ max: 11 }) }), {
  minLength: 20,
  maxLength: 300,
  size: 'max',
})

/** Whatever happens in whatever order, and however it is interleaved, then everything is delivered once the world is kind again. */
function checkLane(options: LaneModelOptions): void {
  fc.assert(
    fc.property(actions, (taken) => {
      const model = new LaneModel(options)
      for (const { action, choice } of taken) model.act(action, choice)
      model.drain()
      assert.deepEqual(model.unfinished(), [])
      assert.equal(model.phase, 'ended')
    }),
    { numRuns: byForm(250, 5000) },
  )
}

suite('a held lane: any sequence of what can happen keeps order, loses nothing and ends', () => {
  test('a held lane of an embedded store, in any sequence of what can happen to it', () =>
    checkLane({ isEmbedded: true, batch: 1 }))
  test('a held lane of a database server, in any sequence of what can happen to it', () =>
    checkLane({ isEmbedded: false, batch: 1 }))
  test('a held lane with posts that several deliveries share, in any sequence of what can happen to it', () =>
    checkLane({ isEmbedded: false, batch: 3 }))
})
