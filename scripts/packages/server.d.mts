/** Builds the folder `dist` of the package from the sources, here or elsewhere. */
export function buildServerPackage(dist: string): Promise<void>
