export function startReference(root: HTMLElement, signal: AbortSignal): void
