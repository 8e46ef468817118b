import assert from 'node:assert/strict'
import type { Cause } from './cause.ts'
import { paths } from './installation.ts'

export const noWorkerRuns: Cause = {
  what: 'no worker runs',
  alerts: () => ({ SwitchboardDeliveriesLate: [{ job: 'switchboard' }] }),
  // Prometheus goes on scraping for some seconds after it was given other targets.
  also: ['SwitchboardProcessDown'],
  async begin(at) {
    await at.watch(['api', 'embedded'])
    await at.halt('worker', 'SIGTERM')
    return async () => {
      await at.run('worker')
      await at.watch()
    }
  },
}

export const hostHangs: Cause = {
  what: 'a host with many subscribers does not respond',
  alerts: (at) => ({ SwitchboardNoRoomForDeliveries: [{ instance: at.addressOf('worker') }] }),
  also: ['SwitchboardDeliveriesLate'],
  async begin({ callbacks, traffic }) {
    callbacks.behave({ [paths.crowd]: 'hold' })
    assert.equal(await traffic.writeToCrowd(), 200)
    return async () => callbacks.behave({})
  },
}

export const subscribersRefuse: Cause = {
  what: '150 subscribers answer with 500, and another one takes everything',
  alerts: () => ({ SwitchboardSubscribersDown: [{ job: 'switchboard' }] }),
  async begin({ callbacks, traffic }) {
    callbacks.behave({ [paths.crowd]: 'refuse' })
    assert.equal(await traffic.writeToCrowd(), 200)
    return async () => callbacks.behave({})
  },
}

export const nobodyTakesAnything: Cause = {
  what: 'every post of every worker fails',
  alerts: () => ({ SwitchboardNothingDelivered: [{ job: 'switchboard' }] }),
  also: ['SwitchboardSubscribersDown'],
  async begin({ callbacks, traffic }) {
    callbacks.behave({ '/': 'refuse' })
    assert.equal(await traffic.writeToCrowd(), 200)
    return async () => callbacks.behave({})
  },
}
