import assert from 'node:assert/strict'
import type { Cause } from './cause.ts'
import { usualMembers } from './installation.ts'

export const processIsKilled: Cause = {
  what: 'a process is killed',
  alerts: (at) => ({ SwitchboardProcessDown: [{ instance: at.addressOf('api') }] }),
  async begin(at) {
    await at.halt('api', 'SIGKILL')
    return () => at.run('api')
  },
}

export const jobIsRenamed: Cause = {
  what: 'the job of Prometheus is renamed',
  alerts: () => ({ SwitchboardNotScraped: [{ job: 'switchboard' }] }),
  async begin(at) {
    await at.watch(usualMembers, 'renamed')
    return () => at.watch()
  },
}

export const eventLoopIsHeld: Cause = {
  what: 'a computation holds the event loop of a process',
  alerts: (at) => ({ SwitchboardEventLoopBlocked: [{ instance: at.addressOf('embedded') }] }),
  async begin(at) {
    const holder = await at.findHolder()
    await holder.hold()
    return () => holder.release()
  },
}

export const settingsDiffer: Cause = {
  what: 'a process has other settings',
  alerts: () => ({ SwitchboardSettingsDisagree: [{ job: 'switchboard' }] }),
  // Prometheus goes on scraping for some seconds after it was given other targets.
  also: ['SwitchboardProcessDown'],
  async begin(at) {
    await at.run('other', { MESSAGE_KEEP: '7d' })
    await at.watch([...usualMembers, 'other'])
    return async () => {
      await at.watch()
      await at.halt('other', 'SIGTERM')
    }
  },
}

export const clockDiffers: Cause = {
  what: 'the clock of a worker is set',
  alerts: (at) => ({ SwitchboardClockDiffers: [{ instance: at.addressOf('worker'), reason: 'differs' }] }),
  // It does not claim anything meanwhile.
  also: ['SwitchboardDeliveriesLate'],
  async begin(at) {
    await at.clocks.worker.setAhead('10m')
    return () => at.clocks.worker.setAhead('0')
  },
}

export const clockJumps: Cause = {
  what: 'the clock of an embedded store jumps forward by days, until an operator accepts it',
  alerts: () => ({ SwitchboardClockJumped: [{ job: 'switchboard' }] }),
  async begin(at) {
    await at.clocks.embedded.setAhead('4d')
    return async () => {
      const { code, stderr } = await at.command('embedded', ['clock', 'accept'])
      assert.equal(code, 0, stderr)
    }
  },
}

export const sendingIsHeld: Cause = {
  what: 'an operator holds what an embedded store sends, and forgets it for a while',
  alerts: () => ({ SwitchboardSendingHeld: [{ job: 'switchboard' }] }),
  async begin(at) {
    const run = async (flag: string) => {
      const { code, stderr } = await at.command('embedded', ['restored', flag])
      assert.equal(code, 0, stderr)
    }
    await run('--hold')
    return () => run('--release')
  },
}
