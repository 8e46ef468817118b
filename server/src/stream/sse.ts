/** An event as Server-Sent Events write it. */
export function writeEvent({ id, event, data }: { id: number; event: string; data: unknown }): string {
  // JSON has no line breaks, so one line holds it.
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
