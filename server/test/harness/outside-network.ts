import { promises as dns } from 'node:dns'
import { type LookupFunction, Socket } from 'node:net'

/**
 * Loaded into a server's process before it starts (`node --import`): there is no internet where tests run, so a public address leads to
 * this machine. What the server may connect to is decided before, and nothing of the server is replaced.
 */
export const outsideAddress = '93.184.216.34'
/** A public name with an internal address, as strangers make one. */
export const insideName = 'inside.example.com'

export const fakeOutsideNetwork = `--import=${import.meta.url}`
/** The name server to ask, in place of the one of the machine. Without it there is only `insideName`. */
export const nameServerVariable = 'OUTSIDE_NAME_SERVER'

if (process.env['NODE_OPTIONS']?.includes(fakeOutsideNetwork)) {
  const connect = Socket.prototype.connect as (this: Socket, ...given: unknown[]) => Socket
  Socket.prototype.connect = function (this: Socket, ...given: unknown[]) {
    // Node's own functions pass what they were given as a list.
    const [options] = [given[0]].flat() as [{ host?: string; lookup?: LookupFunction } | undefined]
    if (options?.host === outsideAddress) options.host = '127.0.0.1'
    if (options?.lookup) options.lookup = leadHere(options.lookup)
    return connect.apply(this, given)
  } as typeof Socket.prototype.connect
  const nameServer = process.env[nameServerVariable]
  if (nameServer === undefined) knowOnlyInsideName()
  else askAt(nameServer)
}

function leadHere(lookup: LookupFunction): LookupFunction {
  const lead = (address: string) => (address === outsideAddress ? '127.0.0.1' : address)
  return (hostname, options, callback) =>
    lookup(hostname, options, (error, found, family) => {
      if (typeof found === 'string') callback(error, lead(found), family)
      else callback(error, found?.map(({ address, family }) => ({ address: lead(address), family })) ?? found)
    })
}

function knowOnlyInsideName(): void {
  const find = async (name: string, address: string) => {
    if (name !== insideName) throw Object.assign(new Error('there is no such name'), { code: 'ENOTFOUND' })
    return [address]
  }
  dns.Resolver.prototype.resolve4 = ((name: string) =>
    find(name, '127.0.0.1')) as typeof dns.Resolver.prototype.resolve4
  dns.Resolver.prototype.resolve6 = ((name: string) => find(name, '::1')) as typeof dns.Resolver.prototype.resolve6
}

/** As the list of servers of the machine does. */
function askAt(nameServer: string): void {
  dns.Resolver = class extends dns.Resolver {
    constructor(options?: ConstructorParameters<typeof dns.Resolver>[0]) {
      super(options)
      this.setServers([nameServer])
    }
  }
}
