import type { Try } from '../../data/types.ts'
import { beginUpper } from '../../ui/begin-upper.ts'
import { BodyView, TextView } from '../../ui/json/view.tsx'
import { Exact } from '../../ui/moments.tsx'
import { Badge, Code, Empty } from '../../ui/parts.tsx'
import { writeSpan } from '../../ui/times.ts'
import { type ComparedAttempt, compareAttempts, writeHeaders } from './compare-attempts.ts'

interface AttemptsProps {
  readonly tries: readonly Try[]
  /** The body of a post of the webhook alone: an attempt with the same is not shown twice. */
  readonly payload: string | null
}

/** The attempts below each other, so that they can be compared; each opens to its headers and bodies. */
export function Attempts({ tries, payload }: AttemptsProps) {
  if (tries.length === 0) {
    return (
      <Empty title="Not attempted yet">
        <p>The sentence above says what it waits for.</p>
      </Empty>
    )
  }
  const compared = compareAttempts(tries)
  return (
    <section class="block" aria-label="Attempts">
      <h2>Attempts</h2>
      <ol class="attempts">
        <li class="attempt-names" aria-hidden="true">
          <span>Attempt</span>
          <span>Time</span>
          <span>Response</span>
          <span class="right">Took</span>
          <span>After</span>
          <span>Problem</span>
        </li>
        {compared.toReversed().map((one, index) => (
          <Attempt key={one.number} one={one} isLast={index === 0} payload={payload} />
        ))}
      </ol>
    </section>
  )
}

interface AttemptProps {
  readonly one: ComparedAttempt
  readonly isLast: boolean
  readonly payload: string | null
}

function Attempt({ one, isLast, payload }: AttemptProps) {
  const { number, time, duration, problem, request, response, after, isElsewhere } = one
  const body = request.body
  return (
    <li>
      <details open={isLast}>
        <summary class="attempt">
          <span class="attempt-number">{`Attempt ${number}`}</span>
          <Exact at={time} />
          <span>
            <Badge tone={problem ? 'bad' : 'good'}>{response ? response.status : 'no response'}</Badge>
          </span>
          <span class="right">{`${duration.toLocaleString()} ms`}</span>
          <span class="soft">{after === undefined ? '' : `+${writeSpan(after)}`}</span>
          <span class={problem ? 'bad' : 'soft'}>
            {beginUpper(problem ?? 'accepted')}
            {isElsewhere && ` · to ${request.url ?? 'an unknown address'}`}
          </span>
        </summary>
        <div class="attempt-body">
          <div class="two">
            <Code label={`Headers to ${request.url ?? 'an unknown address'}`} text={writeHeaders(request.headers)} />
            <Code label="Response headers" text={response ? writeHeaders(response.headers) : 'No response.'} />
          </div>
          <div class="two">
            {body !== null && body === payload ? (
              <p class="soft">The body is the one that is shown above, byte for byte.</p>
            ) : (
              <div class="block">
                <BodyView label="Body" text={body} none="No longer kept." />
                {body !== null && (
                  <details>
                    <summary>The exact bytes that are signed</summary>
                    <TextView label="Exact bytes" text={body} />
                  </details>
                )}
              </div>
            )}
            <BodyView
              label="Response body"
              text={response?.body}
              none={response ? 'Empty, or no longer kept.' : 'No response.'}
            />
          </div>
        </div>
      </details>
    </li>
  )
}
