import type { Config } from '../config.ts'
import { places } from '../places.ts'
import type { World } from './list.ts'
import { readWorldFile } from './read.ts'

export const demoWorld = new URL('demo.yaml', places.worlds)

/** The world that a server begins with when its store is empty: WORLD, or the demo. */
export function readStartWorld({ world }: Pick<Config, 'world'>): Promise<World> {
  return readWorldFile(world ?? demoWorld)
}
