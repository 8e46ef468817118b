import { type MediaFile, mediaDelete, mediaDownload, mediaRetrieve } from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import type { Node } from '../../data/types.ts'
import { go } from '../../router.ts'
import { confirmAction } from '../../ui/dialog.tsx'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { attempt } from '../../ui/toast.tsx'
import { actFor } from './acting.ts'
import { AsJson, Facts } from './facts.tsx'
import { listFacts, writeSize } from './words.ts'

/** Larger files are offered for a download, and not fetched to be looked at. */
const mostShown = 20_000_000

export function MediaBody({ node }: { readonly node: Node }) {
  const media = useLoaded(node.id, async () => mediaRetrieve(await actFor(node), node.id))
  const remove = async () => {
    const isAgreed = await confirmAction({
      title: 'Delete the media file?',
      text: 'Its link becomes invalid, and it can no longer be sent. That cannot be undone.',
      action: 'Delete',
      isDangerous: true,
    })
    if (!isAgreed) return
    const isDone = await attempt(async () => mediaDelete(await actFor(node), node.id), 'The media file is deleted.')
    if (isDone) go('/resources?kind=media')
  }
  return (
    <>
      <Loaded of={media} what="the media file">
        {(value) => (
          <>
            <section class="card">
              <Content node={node} file={value} />
              <Facts of={listFacts(value, ['id', 'url', 'messaging_product'])} />
            </section>
            <AsJson value={value} label={`GET /${node.id}`} />
          </>
        )}
      </Loaded>
      <p>
        <button type="button" class="danger" onClick={() => void remove()}>
          Delete the media file
        </button>
      </p>
    </>
  )
}

/** The file itself. Its address needs a token, so that the bytes are fetched and shown from the page. */
function Content({ node, file }: { readonly node: Node; readonly file: MediaFile }) {
  const isShown = file.file_size <= mostShown
  const content = useLoaded(`content ${file.id} ${isShown}`, async () => {
    if (!isShown) return undefined
    const response = await mediaDownload(await actFor(node), file.url)
    return URL.createObjectURL(new Blob([await response.arrayBuffer()], { type: file.mime_type }))
  })
  useEffect(
    () => () => {
      const load = content.load.peek()
      if (load.state === 'ready' && load.value !== undefined) URL.revokeObjectURL(load.value)
    },
    [content.load],
  )
  return (
    <Loaded
      of={content}
      what="the file"
      isEmpty={(address) => address === undefined}
      empty={<p class="soft">{`A file of ${writeSize(file.file_size)} is too large to be shown here.`}</p>}
    >
      {(address) => address && <Shown address={address} file={file} />}
    </Loaded>
  )
}

function Shown({ address, file }: { readonly address: string; readonly file: MediaFile }) {
  const [type] = file.mime_type.split('/')
  if (type === 'image') return <img class="media-shown" src={address} alt="The media file" />
  // biome-ignore lint/a11y/useMediaCaption: what users send has no captions.
  if (type === 'audio') return <audio class="media-shown" controls src={address} />
  // biome-ignore lint/a11y/useMediaCaption: what users send has no captions.
  if (type === 'video') return <video class="media-shown" controls src={address} />
  return (
    <p>
      <a href={address} download={file.id}>
        Download the document
      </a>
    </p>
  )
}
