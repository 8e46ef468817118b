export function focusSearch(event: KeyboardEvent): void
