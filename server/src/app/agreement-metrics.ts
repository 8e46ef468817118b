import { Gauge, type Registry } from 'prom-client'
import type { Agreement } from '../processes/agreement.ts'

/** Shows at /metrics whether the processes of the service agree on the settings that they share. */
export function watchAgreement(registry: Registry, agreement: Pick<Agreement, 'disagreements'>): void {
  new Gauge({
    name: 'switchboard_settings_disagree',
    help: 'How many running processes have other rules of the platform or rate limits than this one.',
    registers: [registry],
    collect() {
      this.set(agreement.disagreements.length)
    },
  })
}
