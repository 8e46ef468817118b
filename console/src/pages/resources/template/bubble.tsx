import { useRef } from 'preact/hooks'
import { useReachable } from '../../../ui/hooks.ts'
import { Icon } from '../../../ui/icons.tsx'
import { RichText } from '../../phone/content/rich-text.tsx'
import { composePreview, type PreviewedComponent, type TemplatePreview } from './preview.ts'

const headerWords = { image: 'Picture', video: 'Video', document: 'Document', location: 'Location' } as const

/** A template as it looks in a chat. */
export function TemplateBubble({ components }: { readonly components: readonly PreviewedComponent[] }) {
  const preview = composePreview(components)
  const place = useRef<HTMLUListElement>(null)
  useReachable(place)
  return (
    <div class="preview">
      <div class="preview-bubble">
        <Parts preview={preview} />
        {preview.cards.length > 0 && (
          <ul class="preview-cards" ref={place} aria-label={`${preview.cards.length} cards`}>
            {preview.cards.map((card, index) => (
              <li key={index} aria-label={`Card ${index + 1} of ${preview.cards.length}`}>
                <Parts preview={card} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

/** What a template and a card of it have alike. */
function Parts({ preview: { header, offer, body, footer, buttons } }: { readonly preview: TemplatePreview }) {
  return (
    <>
      {header && <Header header={header} />}
      {offer !== undefined && (
        <p class="preview-offer" dir="auto">
          {offer}
        </p>
      )}
      <RichText body={body} />
      {footer !== undefined && (
        <p class="preview-footer" dir="auto">
          {footer}
        </p>
      )}
      {buttons.length > 0 && (
        <ul class="preview-buttons">
          {buttons.map(({ type, text }) => (
            <li key={`${type} ${text}`} dir="auto">
              {text}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function Header({ header }: { readonly header: NonNullable<TemplatePreview['header']> }) {
  if (header.kind === 'text') {
    return (
      <p class="preview-header" dir="auto">
        {header.text}
      </p>
    )
  }
  return (
    <p class="preview-media">
      <Icon name={header.kind === 'document' ? 'file' : header.kind === 'location' ? 'place' : 'picture'} />
      {headerWords[header.kind]}
    </p>
  )
}
