import type { Client } from './core/client.ts'

/** Methods of a client that belong together. */
export class Group {
  protected readonly client: Client

  constructor(client: Client) {
    this.client = client
  }
}
