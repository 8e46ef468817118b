interface NamedApp {
  readonly id: string
  readonly name?: string | null | undefined
}

/** What the audit log is asked for by who did it: an app is known there by its id alone, and by its name to people. */
export function findActor(text: string, apps: readonly NamedApp[]): string {
  const wanted = text.toLowerCase()
  const called = apps.filter(({ name }) => name?.toLowerCase() === wanted)
  // Of several with one name none is meant more than the others.
  return called.length === 1 && called[0] ? called[0].id : text
}
