export type PageIcon =
  | 'phone'
  | 'live'
  | 'deliveries'
  | 'connect'
  | 'calls'
  | 'resources'
  | 'sandbox'
  | 'access'
  | 'docs'
  | 'theme'
  | 'keys'
  | 'search'
  | 'menu'

export const icons: Readonly<Record<PageIcon, string>>

export interface ConsolePage {
  readonly first: string
  readonly name: string
  readonly icon: PageIcon
  readonly lead?: string
}

export const pages: readonly ConsolePage[]
export function findPage(first: string): ConsolePage | undefined
