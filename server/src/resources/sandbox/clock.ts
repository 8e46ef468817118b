import { Type } from 'typebox'
import { latestTime, parseDuration } from '../../base/time/duration.ts'
import type { OperatorContext } from '../../graph/context.ts'
import { defineOperatorControl, defineOperatorRead } from '../../graph/define.ts'
import { badArgument } from '../../graph/define-error.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { SandboxPort } from '../../sandbox/port.ts'
import { notADuration } from '../operators/public.ts'
import { clockNeedsOne, clockNotBack, clockTooFar } from './errors.ts'
import { controlSandbox, sandboxOf } from './recording.ts'

const clockSchema = Type.Object({
  now: Type.String({ format: 'date-time', description: 'What time it is for the service.' }),
  offset: Type.Integer({
    description: 'By how many milliseconds that is ahead of the real time; 0: it is the real time.',
  }),
})

const inputSchema = Type.Object({
  advance: Type.Optional(
    Type.String({ maxLength: 20, description: 'How far to move the clock forward, such as 90s, 30m, 24h or 30d.' }),
  ),
  set: Type.Optional(
    Type.String({
      format: 'date-time',
      maxLength: 64,
      description: 'The new time, not before now; the clock runs on from there.',
    }),
  ),
  real: Type.Optional(Type.Boolean({ description: 'With true the clock shows the real time again.' })),
})

const subject = { id: 'clock', kind: 'sandbox' }

export function clockOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'sandbox.read_clock',
      method: 'GET',
      path: '/operator/clock',
      sentence: 'Reads what time it is for the service, and by how much that is ahead of the real time.',
      input: Type.Object({}),
      output: clockSchema,
      examples: { output: { now: '2026-06-02T12:00:00.000Z', offset: 86_400_000 } },
      run: async (context) => showClock(context, sandboxOf(context)),
    }),
    defineOperatorControl({
      name: 'sandbox.move_clock',
      method: 'POST',
      path: '/operator/clock',
      sentence:
        'Moves the clock of the service forward, or back to the real time; timers that fall due run before the response.',
      input: inputSchema,
      output: clockSchema,
      examples: {
        input: { advance: '1s' },
        output: { now: '2026-06-01T12:00:01.000Z', offset: 1000 },
      },
      run: (context, input) =>
        controlSandbox(context, 'sandbox.move_clock', subject, async (sandbox, record) => {
          await sandbox.moveClock(readMove(input), record)
          return showClock(context, sandbox)
        }),
    }),
  ]
}

function showClock({ clock }: OperatorContext, sandbox: SandboxPort) {
  return { now: new Date(clock.now()).toISOString(), offset: sandbox.readOffset() }
}

/** From the times of the clock and of the real one to the time that was asked for; throws the 400. */
function readMove({ advance, set, real }: { advance?: string; set?: string; real?: boolean }) {
  const given = [advance, set, real].filter((one) => one !== undefined)
  if (given.length !== 1 || real === false) throw clockNeedsOne()
  if (advance !== undefined) {
    const milliseconds = parseDuration(advance)
    if (milliseconds === undefined) throw badArgument(notADuration('advance'))
    return (now: number) => checkBounds('advance', now + milliseconds)
  }
  if (set === undefined) return (_now: number, realNow: number) => realNow
  const time = Date.parse(set)
  return (now: number) => {
    if (time < now) throw badArgument(clockNotBack('set', { now: new Date(now).toISOString() }))
    return checkBounds('set', time)
  }
}

function checkBounds(argument: string, time: number): number {
  if (!(time <= latestTime)) throw badArgument(clockTooFar(argument))
  return time
}
