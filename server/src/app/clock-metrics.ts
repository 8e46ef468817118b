import { Gauge, type Registry } from 'prom-client'
import type { ClockGuard } from '../timers/clock-guard.ts'

/** Shows at /metrics how far the clock of the process can be relied on. */
export function watchClock(registry: Registry, guard: Pick<ClockGuard, 'state'>): void {
  new Gauge({
    name: 'switchboard_clock_offset_seconds',
    help: "By how much the clock of the process is ahead of the database's; 0 with an embedded store.",
    registers: [registry],
    collect() {
      this.set(guard.state.offset / 1000)
    },
  })
  new Gauge({
    name: 'switchboard_clock_held',
    help: 'Whether nothing is deleted or given up because of the clock, by reason: it differs from that of the database, or time has jumped forward.',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      for (const reason of ['differs', 'jumped']) this.set({ reason }, guard.state.hold === reason ? 1 : 0)
    },
  })
}
