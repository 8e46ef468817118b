import type { CallFinding } from '@switchboard/client/methods'
import { Badge } from '../../ui/parts.tsx'

/** What is wrong with a side of a call, as the service says it. */
export function Findings({ of, side }: { readonly of: readonly CallFinding[]; readonly side: CallFinding['side'] }) {
  const found = of.filter((finding) => finding.side === side)
  if (found.length === 0) return <p class="soft">Nothing is wrong with this description.</p>
  return (
    <ul class="findings">
      {found.map(({ code, level, line, message }) => (
        <li key={code}>
          <Badge tone={level === 'error' ? 'bad' : 'warn'}>{level === 'error' ? 'Error' : 'Warning'}</Badge>{' '}
          <span>{message}</span> <span class="soft">{line === undefined ? code : `${code}, line ${line}`}</span>
        </li>
      ))}
    </ul>
  )
}
