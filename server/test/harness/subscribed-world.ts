import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ids, testWorld } from './world.ts'

/** Writes the world of tests, with its app subscribed to the messages of its account, into a folder; returns the file. */
export async function writeSubscribedWorld(folder: string, sinkUrl: string): Promise<string> {
  const world = testWorld()
  const webhook = { callback_url: sinkUrl, verify_token: 'vt', fields: ['messages'] }
  const subscribed = {
    ...world,
    apps: world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app)),
    accounts: world.accounts.map((one) =>
      one.id === ids.account ? { ...one, subscribed_apps: [ids.application] } : one,
    ),
  }
  const file = join(folder, 'world.json')
  await writeFile(file, JSON.stringify(subscribed))
  return file
}
