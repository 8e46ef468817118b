import { place } from '../../router.ts'
import { PageHead, To } from '../../ui/parts.tsx'
import './access.css'
import { AuditLog } from './audit.tsx'
import { SessionList } from './sessions.tsx'
import { TokenList } from './tokens.tsx'

const views = [
  ['', 'Tokens'],
  ['sessions', 'Console sessions'],
  ['audit', 'Audit log'],
] as const

/** Who may do what, and who did what. */
export function AccessPage() {
  const view = place.value.query.get('view') ?? ''
  return (
    <div class="page page-access">
      <PageHead of="access" />
      <nav class="views" aria-label="Access">
        {views.map(([name, title]) => (
          <To key={name} href={name === '' ? '/access' : `/access?view=${name}`} current={name === view}>
            {title}
          </To>
        ))}
      </nav>
      {view === 'audit' ? <AuditLog /> : view === 'sessions' ? <SessionList /> : <TokenList />}
    </div>
  )
}
