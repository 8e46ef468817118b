export const packsFolder: string
export const listFile: string
export function findPack(root: string): string | undefined
