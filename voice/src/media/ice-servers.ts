/** Servers of STUN and TURN, as a browser takes them. */
export type IceServers = readonly IceServer[]

interface IceServer {
  urls: string | string[]
  username?: string
  credential?: string
}
