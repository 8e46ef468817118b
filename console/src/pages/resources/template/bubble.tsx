import { Icon } from '../../../ui/icons.tsx'
import { RichText } from '../../phone/content/rich-text.tsx'
import { composePreview, type PreviewedComponent, type TemplatePreview } from './preview.ts'

const headerWords = { image: 'Picture', video: 'Video', document: 'Document', location: 'Location' } as const

/** A template as it looks in a chat. */
export function TemplateBubble({ components }: { readonly components: readonly PreviewedComponent[] }) {
  const { header, body, footer, buttons } = composePreview(components)
  return (
    <div class="preview">
      <div class="preview-bubble">
        {header && <Header header={header} />}
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
      </div>
    </div>
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
