import { Gauge, type Registry } from 'prom-client'
import type { SendingHold } from '../egress/sending-hold.ts'

/** Shows at /metrics whether an operator holds what would be sent to others. */
export function watchSendingHold(registry: Registry, hold: Pick<SendingHold, 'heldSince'>): void {
  new Gauge({
    name: 'switchboard_sending_held',
    help: 'Whether webhooks, codes and fetches of links wait until an operator releases them: ./switchboard restored.',
    registers: [registry],
    collect() {
      this.set(hold.heldSince === undefined ? 0 : 1)
    },
  })
}
