import type { MessageTemplatesTable } from '../../db/tables.ts'

export type ParameterFormat = MessageTemplatesTable['parameter_format']

/** `{{…}}` with anything between; whether that is the name of a variable is for the rules. */
const placeholder = /\{\{([^{}]*)\}\}/g

/** The variables of a text in the order of their first use, each once. */
export function listVariables(text: string): string[] {
  return [...new Set([...text.matchAll(placeholder)].map(([, name = '']) => name))]
}

/** Puts values in the place of variables; a value that holds braces itself is not filled in again. */
export function fillVariables(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(placeholder, (whole, name: string) => values.get(name) ?? whole)
}

/** The text in its pieces between the variables. */
export function splitAtVariables(text: string): string[] {
  return text.split(/\{\{[^{}]*\}\}/)
}

/** Lengths count Unicode characters. */
export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}
