import { useSignal } from '@preact/signals'
import {
  type GatewayReviewTemplateParams,
  gatewayReviewTemplate,
  type TemplateStatus,
} from '@switchboard/client/methods'
import { client } from '../../../data/http.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/parts.tsx'
import { attempt } from '../../../ui/toast.tsx'
import { nameValue } from '../words.ts'

type Reason = NonNullable<GatewayReviewTemplateParams['reason']>

const reasons: readonly Reason[] = [
  'INVALID_FORMAT',
  'ABUSIVE_CONTENT',
  'INCORRECT_CATEGORY',
  'PROMOTIONAL',
  'SCAM',
  'TAG_CONTENT_MISMATCH',
]

interface ReviewProps {
  readonly id: string
  readonly status: TemplateStatus
  readonly reload: () => Promise<void>
}

/** The outcome of the review, which the platform gives and here an operator. */
export function Review({ id, status, reload }: ReviewProps) {
  const isRejecting = useSignal(false)
  const set = (params: GatewayReviewTemplateParams, done: string) =>
    attempt(async () => {
      await gatewayReviewTemplate(client, id, params)
      await reload()
    }, done)
  return (
    <fieldset class="row review" aria-label="Review">
      {status !== 'APPROVED' && (
        <button
          type="button"
          class="main"
          onClick={() => void set({ status: 'APPROVED' }, 'The template is approved.')}
        >
          Approve
        </button>
      )}
      {status !== 'REJECTED' && (
        <button
          type="button"
          onClick={() => {
            isRejecting.value = true
          }}
        >
          Reject…
        </button>
      )}
      {status === 'APPROVED' && (
        <button type="button" onClick={() => void set({ status: 'PAUSED' }, 'The template is paused.')}>
          Pause
        </button>
      )}
      {isRejecting.value && (
        <Reject
          onReject={async (reason) => {
            isRejecting.value = false
            await set({ status: 'REJECTED', reason }, 'The template is rejected.')
          }}
          onClose={() => {
            isRejecting.value = false
          }}
        />
      )}
    </fieldset>
  )
}

interface RejectProps {
  readonly onReject: (reason: Reason) => Promise<void>
  readonly onClose: () => void
}

function Reject({ onReject, onClose }: RejectProps) {
  const reason = useSignal<Reason>('INVALID_FORMAT')
  return (
    <Dialog title="Reject the template?" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void onReject(reason.value)
        }}
      >
        <Field label="Reason" hint="The event message_template_status_update reports it to the apps of the account.">
          <select
            value={reason.value}
            onChange={(event) => {
              reason.value = event.currentTarget.value as Reason
            }}
          >
            {reasons.map((one) => (
              <option key={one} value={one}>
                {nameValue(one)}
              </option>
            ))}
          </select>
        </Field>
        <button type="submit" class="danger">
          Reject
        </button>
      </form>
    </Dialog>
  )
}
