declare module '*/packed.js' {
  export function findPack(root: string): string | undefined
}
