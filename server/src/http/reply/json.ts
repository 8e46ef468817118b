/** A response as JSON, with a final line end, so that a terminal shows the next prompt or response on a new line. */
export function writeJson(body: unknown): string {
  return `${JSON.stringify(body)}\n`
}
