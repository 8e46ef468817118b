import { findPage, icons, pages } from '../../../console/shared/pages.js'
import type { ConsoleAddress } from '../graph/ports.ts'
import { escapeHtml } from '../replies/page.ts'

export interface FrameOptions {
  /** The path prefix of a proxy in front of the service; usually empty. */
  readonly prefix: string
  readonly sandbox: boolean
  /** The first segment of the address. */
  readonly first: string
  /** What stands in the page. */
  readonly main: string
}

/** The frame as the script of the console draws it before it knows anything: painted while the script still loads. */
export function writeFrame({ prefix, sandbox, first, main }: FrameOptions): string {
  const home = escapeHtml(prefix)
  const current = findPage(first)
  const items = pages
    .filter((page) => page.first !== 'sandbox' || sandbox)
    .map((page) => {
      const place = page === current ? ' aria-current="page"' : ''
      return `<li><a href="${home}/${page.first}" data-in=""${place} title="${page.name}">${writeIcon(page.icon)}<span>${page.name}</span></a></li>`
    })
  return `<div class="frame"><a class="skip" href="#main">Skip to content</a>
<nav class="rail" aria-label="Console"><a href="${home}/" data-in="" class="brand" title="Switchboard">${writeMark()}<span>Switchboard</span></a>
<button type="button" class="search-button" title="Search (Ctrl K)">${writeIcon('search')}<span class="grow">Search</span><span class="key" aria-hidden="true">/</span></button>
<button type="button" class="pages-button" aria-expanded="false">${writeIcon('menu')}<span>${current?.name ?? 'Pages'}</span></button>
<ul>${items.join('')}</ul>
<div class="foot"><p class="link-state connecting"><span class="dot" aria-hidden="true"></span><span class="words">Connecting</span></p>
<p class="facts soft"></p><div class="foot-tools">${writeTool('theme', 'Colours')}${writeTool('keys', 'Keys')}</div></div></nav>
<main id="main" tabindex="-1">${main}</main></div>`
}

/** What stands in a page of the rail until its data has come: its head, and the outline of the rest. */
export function writeOutline({ first, isList }: ConsoleAddress): string {
  const page = findPage(first)
  if (page?.first === '') {
    const phone = '<div class="phone"><div class="phone-head"><span class="avatar outline"></span></div></div>'
    return `<div class="desk" aria-hidden="true"><div class="business">${writeBlocks('title', 'select', 'form', 'rest')}</div><div class="phones">${phone}${phone}</div></div>`
  }
  const head =
    page && isList
      ? `<header class="head"><div><h1>${page.name}</h1><p class="lead">${page.lead ?? ''}</p></div></header>`
      : `<header class="head"><div>${writeBlocks('title')}</div></header>`
  return `<div class="page">${head}${writeBlocks('row', 'rest')}</div>`
}

/** The same for whoever is not signed in. */
export function writeSignIn(): string {
  return `<main class="sign-in">${writeMark()}<h1>Switchboard</h1></main>`
}

function writeBlocks(...kinds: readonly string[]): string {
  return kinds.map((kind) => `<div class="outline ${kind}" aria-hidden="true"></div>`).join('')
}

function writeIcon(name: keyof typeof icons): string {
  return `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="${icons[name]}"></path></svg>`
}

function writeTool(name: keyof typeof icons, label: string): string {
  return `<button type="button" class="bare" aria-label="${label}" title="${label}">${writeIcon(name)}</button>`
}

function writeMark(): string {
  return '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" class="mark-ground"></rect><path d="M8 11h6l4 10h6M8 21h6l4-10h6"></path></svg>'
}
