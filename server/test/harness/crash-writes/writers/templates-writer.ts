import { accounts, tokens } from '../../world.ts'
import { type ChapterWriter, pass, type WriterDeps } from '../chapter-writer.ts'
import { eventKeys } from '../expected-events.ts'
import { Shelf } from '../shelf.ts'

interface Template {
  readonly name: string
  readonly category: string
  readonly text: string
  readonly life: number
  readonly quality: string
}

const maxTemplates = 6
/** In this order, so that each is reported once: an event is known by what it says. */
const scores = ['UNKNOWN', 'GREEN', 'YELLOW', 'RED']
/** Those of the world were approved without an event, so that the one after an edit is the only one. */
const editable = ['hello_world', 'order_update']
/** Left alone, because others send it. */
export const sentTemplate = 'closing_sale'

/** Templates that are created, edited, scored by the review and deleted; that they are approved by themselves is seen by the events. */
export class TemplatesWriter implements ChapterWriter {
  readonly name = 'templates'
  readonly #parts: WriterDeps
  readonly #shelf: Shelf<Template>
  readonly #path = `/v23.0/${accounts.private}/message_templates`
  readonly #edited = new Set<string>()
  #count = 0
  #isBegun = false

  constructor(parts: WriterDeps) {
    this.#parts = parts
    this.#shelf = new Shelf('templates', parts.doors)
  }

  async act(): Promise<void> {
    const { doors, chance } = this.#parts
    const known = [...this.#shelf.known].filter(([, { name }]) => name !== sentTemplate)
    if (known.length === 0 || (known.length < maxTemplates && chance.happens(0.4))) return this.#create()
    const [id, template] = chance.pick(known)
    const roll = chance.next()
    if (roll < 0.3) return this.#score(id, template)
    if (roll < 0.6 && known.length > 2) return this.#delete(id, template)
    const { status } = await doors.read({ path: `/v23.0/${id}`, query: { fields: 'status' } })
    return status === 'APPROVED' && template.category === 'UTILITY' ? this.#edit(id, template) : pass(doors)
  }

  async #create(): Promise<void> {
    const name = `template_${this.#count++}`
    const text = `What ${name} says.`
    const value = { name, category: 'UTILITY', text, life: 600, quality: 'UNKNOWN' }
    const json = {
      ...{ name, language: 'en_US', category: 'UTILITY', message_send_ttl_seconds: 600 },
      components: [{ type: 'BODY', text }],
    }
    const raises = [eventKeys.template(name, 'APPROVED')]
    const write = { operation: 'templates.create', method: 'POST', path: this.#path, json } as const
    await this.#shelf.change({ value, raises }, write, ({ body }) => ({ key: body.id }))
  }

  async #edit(key: string, template: Template): Promise<void> {
    const { chance } = this.#parts
    const life = 30 + chance.below(40_000)
    const write = { operation: 'templates.edit', method: 'POST', path: `/v23.0/${key}` } as const
    if (this.#edited.has(key) || !editable.includes(template.name)) {
      await this.#shelf.change(
        { key, value: { ...template, life } },
        { ...write, json: { message_send_ttl_seconds: life } },
      )
      return
    }
    this.#edited.add(key)
    const text = `What ${template.name} says now.`
    const json = { components: [{ type: 'BODY', text }], message_send_ttl_seconds: life }
    const raises = [eventKeys.template(template.name, 'PENDING'), eventKeys.template(template.name, 'APPROVED')]
    await this.#shelf.change({ key, value: { ...template, text, life }, raises }, { ...write, json })
  }

  async #score(key: string, template: Template): Promise<void> {
    const quality = scores[scores.indexOf(template.quality) + 1]
    if (quality === undefined) return pass(this.#parts.doors)
    const change = { key, value: { ...template, quality }, raises: [eventKeys.template(template.name, quality)] }
    await this.#shelf.change(change, {
      operation: 'gateway.review_template',
      method: 'POST',
      path: `/gateway/templates/${key}`,
      token: tokens.gateway,
      json: { quality_score: quality },
    })
  }

  async #delete(key: string, { name }: Template): Promise<void> {
    const change = { key, value: undefined, raises: [eventKeys.template(name, 'DELETED')] }
    const write = this.#parts.chance.happens(0.5)
      ? ({ operation: 'templates.delete', method: 'DELETE', path: `/v23.0/${key}` } as const)
      : ({ operation: 'templates.delete_by_name', method: 'DELETE', path: this.#path, query: { name } } as const)
    await this.#shelf.change(change, write)
  }

  async check(): Promise<void> {
    const items = await this.#parts.doors.list({ path: this.#path }, 100)
    const seen = new Map<string, Template>(
      items.map(({ id, name, category, components, message_send_ttl_seconds: life, quality_score }) => [
        id,
        { name, category, text: components[0].text, life, quality: quality_score.score },
      ]),
    )
    if (this.#isBegun) this.#shelf.check(seen)
    else this.#shelf.begin(seen)
    this.#isBegun = true
  }
}
