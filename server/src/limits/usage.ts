import { minute } from '../base/time/duration.ts'
import type { Node } from '../graph/nodes.ts'
import type { Rate, RateClassName } from './classes.ts'
import type { Use } from './permits.ts'

/** How much of a limit is used up. */
export interface Usage {
  readonly name: RateClassName
  readonly percent: number
  /** Minutes until calls are accepted again; 0 while they are. */
  readonly regainMinutes: number
}

export function usageOf(name: RateClassName, rate: Rate, { used, milliseconds }: Use): Usage {
  const percent = Math.min(100, Math.ceil((used * 100) / rate.count))
  return { name, percent, regainMinutes: percent < 100 ? 0 : Math.ceil(milliseconds / minute) }
}

/** Written once for each percentage. */
const appUsage = Array.from({ length: 101 }, (_, percent) => `{"call_count":${percent}}`)

/** The two headers that report how close a caller is to its limits. */
export function usageHeaders(node: Node, platform: Usage, own: Usage | undefined): Record<string, string> {
  const shown = own ?? platform
  return {
    'x-app-usage': appUsage[platform.percent] as string,
    'x-business-use-case-usage': `{"${node.account_id ?? node.business_id}":[{"type":"${shown.name}","call_count":${shown.percent},"estimated_time_to_regain_access":${shown.regainMinutes}}]}`,
  }
}
