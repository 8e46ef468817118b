import { useSignal } from '@preact/signals'
import { type QrCode, qrCodesCreate, qrCodesDelete, qrCodesList } from '@switchboard/client/methods'
import { base } from '../../data/http.ts'
import type { Node } from '../../data/types.ts'
import { confirmAction } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/load/loaded.tsx'
import { More, usePages } from '../../ui/load/paged.tsx'
import { CopyButton, Empty, Field } from '../../ui/parts.tsx'
import { attempt } from '../../ui/toast.tsx'
import { actFor } from './acting.ts'

/** The QR codes of a number, each with its image. */
export function QrCodes({ node }: { readonly node: Node }) {
  const list = usePages(
    `qr ${node.id}`,
    async (after) => qrCodesList(await actFor(node), node.id, { limit: 24, ...(after !== undefined && { after }) }),
    ({ code }) => code,
  )
  const remove = async ({ code, prefilled_message }: QrCode) => {
    const isAgreed = await confirmAction({
      title: 'Delete the QR code?',
      text: `“${prefilled_message}”: its link and its images no longer work. That cannot be undone.`,
      action: 'Delete',
      isDangerous: true,
    })
    if (!isAgreed) return
    await attempt(async () => {
      await qrCodesDelete(await actFor(node), node.id, code)
      await list.reload()
    }, 'The QR code is deleted.')
  }
  return (
    <>
      <Create node={node} reload={list.reload} />
      <Loaded
        of={list}
        what="the QR codes"
        isEmpty={(rows) => rows.length === 0}
        empty={
          <Empty title="The number has no QR code">
            <p>A QR code opens a chat with the business, with a message that is written already.</p>
          </Empty>
        }
      >
        {(rows) => (
          <>
            <ul class="qr-codes">
              {rows.map((one) => (
                <li key={one.code} class="card">
                  <img
                    src={`${base}/qr/${one.code}.svg`}
                    width="160"
                    height="160"
                    loading="lazy"
                    alt={`QR code ${one.code}`}
                  />
                  <p dir="auto">{one.prefilled_message}</p>
                  <p class="row">
                    <a href={one.deep_link_url} target="_blank" rel="noreferrer">
                      Open its link
                    </a>
                    <CopyButton text={one.deep_link_url} />
                    <button type="button" class="small danger" onClick={() => void remove(one)}>
                      Delete
                    </button>
                  </p>
                </li>
              ))}
            </ul>
            <More of={list} what="QR codes" />
          </>
        )}
      </Loaded>
    </>
  )
}

function Create({ node, reload }: { readonly node: Node; readonly reload: () => Promise<void> }) {
  const message = useSignal('')
  const create = () =>
    attempt(async () => {
      await qrCodesCreate(await actFor(node), node.id, { prefilled_message: message.value })
      message.value = ''
      await reload()
    }, 'The QR code is created.')
  return (
    <form
      class="inline-form"
      onSubmit={(event) => {
        event.preventDefault()
        void create()
      }}
    >
      <Field label="Message of a new QR code">
        <input
          required
          dir="auto"
          value={message.value}
          onInput={(event) => {
            message.value = event.currentTarget.value
          }}
        />
      </Field>
      <button type="submit" class="main">
        Create QR code
      </button>
    </form>
  )
}
