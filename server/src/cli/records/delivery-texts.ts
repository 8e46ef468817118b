import { CommandFailed } from '../fail.ts'

export function parseId(text: string): number {
  const id = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id)) {
    throw new CommandFailed(`${text} is not the id of a delivery: see ./switchboard deliveries list`)
  }
  return id
}

export function unknownDelivery(id: number): CommandFailed {
  return new CommandFailed(`there is no delivery ${id}: see ./switchboard deliveries list`)
}
