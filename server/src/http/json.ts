/** An answer as JSON. The line ends, so that in a terminal the next prompt, or the next answer, begins on a line of its own. */
export function writeJson(body: unknown): string {
  return `${JSON.stringify(body)}\n`
}
