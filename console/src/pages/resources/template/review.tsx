import { useSignal } from '@preact/signals'
import {
  type GatewayTemplatesReviewParams,
  gatewayTemplatesReview,
  type TemplateStatus,
} from '@switchboard/client/methods'
import { client } from '../../../data/http.ts'
import { confirmAction, Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/parts.tsx'
import { attempt } from '../../../ui/toast.tsx'
import { nameValue } from '../words.ts'

type Reason = NonNullable<GatewayTemplatesReviewParams['reason']>

const reasons: readonly Reason[] = [
  'INVALID_FORMAT',
  'ABUSIVE_CONTENT',
  'INCORRECT_CATEGORY',
  'PROMOTIONAL',
  'SCAM',
  'TAG_CONTENT_MISMATCH',
]

/** What a review can make of a template; a rejected or disabled one stays what it is. */
const outcomes: Readonly<Record<TemplateStatus, readonly TemplateStatus[]>> = {
  PENDING: ['APPROVED', 'REJECTED'],
  APPROVED: ['PAUSED', 'DISABLED'],
  PAUSED: ['APPROVED', 'DISABLED'],
  REJECTED: [],
  DISABLED: [],
}

const actions: Readonly<Record<TemplateStatus, string>> = {
  PENDING: 'Review',
  APPROVED: 'Approve',
  REJECTED: 'Reject…',
  PAUSED: 'Pause',
  DISABLED: 'Disable…',
}

interface ReviewProps {
  readonly id: string
  readonly status: TemplateStatus
  readonly reload: () => Promise<void>
}

/** The outcome of the review, which the platform gives and here an operator. */
export function Review({ id, status, reload }: ReviewProps) {
  const isRejecting = useSignal(false)
  const set = (params: GatewayTemplatesReviewParams) =>
    attempt(
      async () => {
        await gatewayTemplatesReview(client, id, params)
        await reload()
      },
      `The template is ${nameValue(params.status ?? '').toLowerCase()}.`,
    )
  const choose = async (outcome: TemplateStatus) => {
    if (outcome === 'REJECTED') {
      isRejecting.value = true
      return
    }
    const isAgreed = outcome !== 'DISABLED' || (await confirmDisable())
    if (isAgreed) await set({ status: outcome })
  }
  if (outcomes[status].length === 0) return null
  return (
    <fieldset class="row review" aria-label="Review">
      {outcomes[status].map((outcome) => (
        <button
          key={outcome}
          type="button"
          class={outcome === 'APPROVED' ? 'main' : ''}
          onClick={() => void choose(outcome)}
        >
          {actions[outcome]}
        </button>
      ))}
      {isRejecting.value && (
        <Reject
          onReject={async (reason) => {
            isRejecting.value = false
            await set({ status: 'REJECTED', reason })
          }}
          onClose={() => {
            isRejecting.value = false
          }}
        />
      )}
    </fieldset>
  )
}

function confirmDisable(): Promise<boolean> {
  return confirmAction({
    title: 'Disable the template?',
    text: 'It can never be sent again. That cannot be undone.',
    action: 'Disable',
    isDangerous: true,
  })
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
