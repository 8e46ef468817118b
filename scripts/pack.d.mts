/** Returns the folder of the pack, which is made anew where it is not fresh. */
export function pack(): Promise<string>
