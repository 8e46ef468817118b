import { promises as dns } from 'node:dns'
import { Socket } from 'node:net'

/**
 * Loaded into a server's process before it starts (`node --import`): there is no internet where tests run, so a public address leads to
 * this machine. What the server may connect to is decided before, and nothing of the server is replaced.
 */
export const outsideAddress = '93.184.216.34'
/** A public name with an internal address, as strangers make one. */
export const insideName = 'inside.example.com'

export const fakeOutsideNetwork = `--import=${import.meta.url}`

if (process.env['NODE_OPTIONS']?.includes(fakeOutsideNetwork)) {
  const connect = Socket.prototype.connect as (this: Socket, ...given: unknown[]) => Socket
  Socket.prototype.connect = function (this: Socket, ...given: unknown[]) {
    // Node's own functions pass what they were given as a list.
    const [options] = [given[0]].flat() as [{ host?: string } | undefined]
    if (options?.host === outsideAddress) options.host = '127.0.0.1'
    return connect.apply(this, given)
  } as typeof Socket.prototype.connect
  const find = async (name: string, address: string) => {
    if (name !== insideName) throw Object.assign(new Error('there is no such name'), { code: 'ENOTFOUND' })
    return [address]
  }
  dns.Resolver.prototype.resolve4 = ((name: string) =>
    find(name, '127.0.0.1')) as typeof dns.Resolver.prototype.resolve4
  dns.Resolver.prototype.resolve6 = ((name: string) => find(name, '::1')) as typeof dns.Resolver.prototype.resolve6
}
