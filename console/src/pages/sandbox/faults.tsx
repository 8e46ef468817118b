import { type ActiveFault, type FaultRule, sandboxFaultsList, sandboxFaultsReplace } from '@switchboard/client/methods'
import { nameOf } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import { JsonView } from '../../ui/json/view.tsx'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { Badge } from '../../ui/parts.tsx'
import { attempt } from '../../ui/toast.tsx'
import { describeFault, presets } from './fault-words.ts'

export function Faults() {
  const list = useLoaded('faults', () => sandboxFaultsList(client))
  const replace = (rules: readonly object[], done: string) =>
    attempt(async () => {
      await sandboxFaultsReplace(client, { rules: rules as readonly FaultRule[] })
      await list.reload()
    }, done)
  return (
    <section class="card">
      <h2>Faults</h2>
      <Loaded of={list} what="the faults">
        {({ rules }) => <Rules rules={rules} replace={replace} />}
      </Loaded>
    </section>
  )
}

interface RulesProps {
  readonly rules: readonly ActiveFault[]
  readonly replace: (rules: readonly object[], done: string) => Promise<boolean>
}

function Rules({ rules, replace }: RulesProps) {
  const given = rules.map(({ hits: _, ...rule }) => rule)
  return (
    <>
      <div class="row">
        {presets.map(({ name, rule }) => (
          <button
            type="button"
            class="small preset"
            key={name}
            onClick={() => void replace([...given, rule], 'The fault is set.')}
          >
            {name}
          </button>
        ))}
      </div>
      {rules.length === 0 && <p class="soft">No fault is set.</p>}
      <ol class="plain-list" hidden={rules.length === 0}>
        {rules.map((rule, index) => (
          <li key={index} class="row">
            <span class="grow">{describeFault(rule, nameOf)}</span>
            <Badge tone={rule.hits > 0 ? 'warn' : 'plain'}>{rule.hits === 1 ? '1 hit' : `${rule.hits} hits`}</Badge>
            <button
              type="button"
              class="small"
              onClick={() =>
                void replace(
                  given.filter((_, other) => other !== index),
                  'The fault is removed.',
                )
              }
            >
              Remove
            </button>
          </li>
        ))}
      </ol>
      {rules.length > 0 && (
        <details>
          <summary>As JSON</summary>
          <JsonView label="GET /operator/faults" value={{ rules: given }} />
        </details>
      )}
    </>
  )
}
