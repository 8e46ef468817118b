import type { OperatorWhyResponse } from '@switchboard/client/methods'
import { Badge, To } from '../../ui/parts.tsx'
import { Sentence } from '../../ui/sentence.tsx'
import { toneOfState } from '../live/tones.ts'

/** What became of it, then of its webhooks at each subscriber. */
export function Verdict({ of: { sentence, subscribers } }: { readonly of: OperatorWhyResponse }) {
  return (
    <section class="verdicts" aria-label="What became of it">
      <p class={`verdict ${toneOf(sentence)}`} role="status">
        <Sentence text={sentence} />
      </p>
      {subscribers.length > 0 && (
        <ul>
          {subscribers.map((one) => (
            <li key={`${one.app_id} ${one.callback_url}`} class={toneOfState(one.state)}>
              <span class="cut app" dir="auto" title={one.callback_url ?? one.app_name}>
                {one.app_name}
              </span>
              <Badge tone={toneOfState(one.state)}>{one.state.replaceAll('_', ' ')}</Badge>
              <span class="sentence">
                <Sentence text={one.sentence} />
                {one.delivery_id !== null && (
                  <>
                    {' '}
                    <To href={`/deliveries/${one.delivery_id}`}>{`Webhook ${one.delivery_id}`}</To>
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** The colour of a sentence, by the word that it begins with. */
function toneOf(sentence: string): string {
  if (/^(?:failed|refused|rejected|the request was refused|expired|not )/i.test(sentence)) return 'bad'
  return /^(?:read|delivered|played|received|completed|answered)/i.test(sentence) ? 'good' : 'plain'
}
