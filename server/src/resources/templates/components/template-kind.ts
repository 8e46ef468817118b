import type { MessageTemplatesTable } from '../../../db/tables.ts'
import type { ParameterFormat } from '../variables.ts'

/** What the rules for components depend on. */
export interface TemplateKind {
  readonly category: MessageTemplatesTable['category']
  readonly parameter_format: ParameterFormat
  /** Whether an image, video or document header has to say which file is its example. */
  readonly needsHandle: boolean
  /** Whether the forms of the public platform are taken besides those of the specification. What is stored was taken once, whatever it is. */
  readonly hasPublicForms: boolean
}
