import { type Template, templatesDelete, templatesRetrieve } from '@switchboard/client/methods'
import type { Node } from '../../../data/types.ts'
import { go } from '../../../router.ts'
import { confirmAction } from '../../../ui/dialog.tsx'
import { Loaded, useLoaded } from '../../../ui/load/loaded.tsx'
import { attempt } from '../../../ui/toast.tsx'
import { actFor, changeAsBusiness } from '../acting.ts'
import { AsJson, Edit, FactRow, Facts, Status } from '../facts.tsx'
import { listFacts, nameValue } from '../words.ts'
import { TemplateBubble } from './bubble.tsx'
import { Review } from './review.tsx'

export function TemplateBody({ node }: { readonly node: Node }) {
  const template = useLoaded(node.id, async () => templatesRetrieve(await actFor(node), node.id))
  return (
    <Loaded of={template} what="the template">
      {(value) => <OneTemplate node={node} template={value} reload={template.reload} />}
    </Loaded>
  )
}

interface OneTemplateProps {
  readonly node: Node
  readonly template: Template
  readonly reload: () => Promise<void>
}

function OneTemplate({ node, template, reload }: OneTemplateProps) {
  const { status = 'PENDING', category, components = [], message_send_ttl_seconds, rejected_reason } = template
  const remove = async () => {
    const isAgreed = await confirmAction({
      title: 'Delete the template?',
      text: `“${template.name}” in ${template.language} can no longer be sent. That cannot be undone.`,
      action: 'Delete',
      isDangerous: true,
    })
    if (!isAgreed) return
    const isDone = await attempt(async () => templatesDelete(await actFor(node), node.id), 'The template is deleted.')
    if (isDone) go('/resources?kind=template')
  }
  return (
    <>
      <div class="template">
        <section class="card">
          <h2>Preview</h2>
          <TemplateBubble components={components} />
        </section>
        <section class="card">
          <h2>Facts</h2>
          <Facts of={listFacts(template, ['id', 'status', 'rejected_reason', 'quality_score', 'components'])}>
            <FactRow name="Status">
              <Status value={status} words={nameValue(status)} />
            </FactRow>
            {status === 'REJECTED' && <FactRow name="Reason">{nameValue(rejected_reason ?? '')}</FactRow>}
            <FactRow name="Quality">{nameValue(template.quality_score?.score ?? 'UNKNOWN')}</FactRow>
          </Facts>
          <Review id={node.id} status={status} reload={reload} />
        </section>
      </div>
      <Edit
        title="Edit"
        writable={{ category, components, message_send_ttl_seconds }}
        save={async (json) => {
          await changeAsBusiness(node, '', json)
          await reload()
        }}
      />
      <AsJson value={template} label={`GET /${node.id}`} />
      <p>
        <button type="button" class="danger" onClick={() => void remove()}>
          Delete the template
        </button>
      </p>
    </>
  )
}
