import type { Client } from './core/client.ts'
import type { Vocabulary } from './generated/constants.ts'

/** Methods of a client that belong together. */
export class Group<V extends Vocabulary = 'msgapp'> {
  protected readonly client: Client<V>

  constructor(client: Client<V>) {
    this.client = client
  }
}
