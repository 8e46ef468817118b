import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import './rich-text.css'
import { type Block, type Inline, isJumbo, parseMarkup } from './markup.ts'

/** How much of a long text is shown before one asks for the rest. */
const shownLength = 768

/** Text of a message with its markup, as elements and never as HTML. */
export function RichText({ body }: { readonly body: string }) {
  const isWhole = useSignal(false)
  const isCut = body.length > shownLength * 1.25 && !isWhole.value
  const shown = isCut ? cut(body) : body
  const blocks = useMemo(() => parseMarkup(shown), [shown])
  if (isJumbo(body)) return <p class="rich-text jumbo">{body}</p>
  return (
    <div class="rich-text">
      {blocks.map(writeBlock)}
      {isCut && (
        <button
          type="button"
          class="read-more"
          onClick={() => {
            isWhole.value = true
          }}
        >
          Read more
        </button>
      )}
    </div>
  )
}

/** Cuts before a word, and never within a letter of several units. */
function cut(body: string): string {
  const part = body.slice(0, shownLength)
  const end = part.search(/\s\S*$/)
  return `${end > shownLength / 2 ? part.slice(0, end) : part.replace(/[\ud800-\udbff]$/, '')}…`
}

function writeBlock(block: Block, index: number): ComponentChildren {
  switch (block.kind) {
    case 'pre':
      return (
        <pre key={index} dir="ltr">
          {block.text}
        </pre>
      )
    case 'quote':
      return (
        <blockquote key={index} dir="auto">
          {block.lines.map(writeLine)}
        </blockquote>
      )
    case 'list':
      return (
        <ul key={index} dir="auto">
          {block.lines.map((line, at) => (
            <li key={at}>{line.map(writePiece)}</li>
          ))}
        </ul>
      )
    case 'ordered':
      return (
        <ol key={index} dir="auto" start={block.start}>
          {block.lines.map((line, at) => (
            <li key={at}>{line.map(writePiece)}</li>
          ))}
        </ol>
      )
    default:
      return block.lines.map(writeLine)
  }
}

function writeLine(line: readonly Inline[], index: number): ComponentChildren {
  return (
    <p key={`line-${index}`} dir="auto">
      {line.length === 0 ? <br /> : line.map(writePiece)}
    </p>
  )
}

function writePiece(piece: Inline, index: number): ComponentChildren {
  switch (piece.kind) {
    case 'bold':
      return <strong key={index}>{piece.children.map(writePiece)}</strong>
    case 'italic':
      return <em key={index}>{piece.children.map(writePiece)}</em>
    case 'strike':
      return <s key={index}>{piece.children.map(writePiece)}</s>
    case 'code':
      return <code key={index}>{piece.text}</code>
    case 'link':
      return (
        <a key={index} href={piece.text} target="_blank" rel="noreferrer noopener">
          {piece.text}
        </a>
      )
    default:
      return piece.text
  }
}
