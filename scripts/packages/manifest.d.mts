/** The published package.json of a workspace, made of the text of its own. */
export function describePublished(text: string): Record<string, unknown>
