import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { type EventReader, openStream, type StreamedEvent } from '../../../test/harness/event-stream.ts'
import { messageSides } from '../../../test/harness/messages.ts'
import { startSecondProcess } from '../../../test/harness/second-process.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { until } from '../../../test/harness/until.ts'
import { tokens } from '../../../test/harness/world.ts'

const token = tokens.operator

onOneDatabase('a stream in a sandbox', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const sides = messageSides(server)
  const control = async (path: string, json: object = {}) => {
    const { status, text } = await server.client.post(`/operator/${path}`, { token, json })
    assert.equal(status, 200, text)
  }

  /** A listener at each door, of every process. */
  async function listenAtDoors(t: TestContext): Promise<EventReader[]> {
    const urls = [server.url]
    if (engine === 'postgres') {
      const { app, client } = await startSecondProcess(server)
      t.after(() => app.close(1000))
      urls.push(client.url)
    }
    const doors = [
      { path: '/gateway/stream', token: tokens.gateway },
      { path: '/operator/stream', token, query: { types: 'message' } },
    ]
    return Promise.all(urls.flatMap((url) => doors.map((door) => openStream(t, url, door))))
  }

  const hasReset = ({ event }: StreamedEvent) => event === 'reset'
  const tells = (id: string) => (one: StreamedEvent) => one.event === 'message' && JSON.stringify(one.data).includes(id)
  const countOf = ({ events }: EventReader, fits: (event: StreamedEvent) => boolean) => events.filter(fits).length

  test('a stream in a sandbox says reset when the store is replaced, and goes on with what happens then', async (t) => {
    const streams = await listenAtDoors(t)
    const user = sides.newUser()
    const hear = (fits: (event: StreamedEvent) => boolean, count: number, what: string) =>
      until(async () => streams.every((stream) => countOf(stream, fits) >= count), what)

    const before = await sides.write(user)
    await hear(tells(before), 1, 'what happens is heard')
    await control('snapshots', { name: 'streamed' })
    await control('reset')
    await hear(hasReset, 1, 'the reset is heard')
    const between = await sides.write(user)
    await hear(tells(between), 1, 'what happens after the reset is heard')
    await control('snapshots/streamed/restore')
    await hear(hasReset, 2, 'the restore is heard')
    const after = await sides.write(user)
    await hear(tells(after), 1, 'what happens after the restore is heard')

    for (const { events } of streams) {
      const order = events.filter((event) => hasReset(event) || [before, between, after].some((id) => tells(id)(event)))
      const named = order.map((event) =>
        hasReset(event) ? 'reset' : [before, between, after].find((id) => tells(id)(event)),
      )
      assert.deepEqual(
        named,
        [before, 'reset', between, 'reset', after],
        'nothing of a restored store is reported as new',
      )
    }
  })

  test('a stream in a sandbox says reset to whoever comes back with an event of before', async (t) => {
    const streams = await listenAtDoors(t)
    const id = await sides.write(sides.newUser())
    await until(async () => streams.every((stream) => countOf(stream, tells(id)) === 1), 'it is heard')
    const [atGateway = '', atOperator = ''] = streams.map(({ events }) => events.find(tells(id))?.id)
    await control('reset')
    for (const door of [
      { path: '/gateway/stream', token: tokens.gateway, last: atGateway },
      { path: '/operator/stream', token, last: atOperator },
    ]) {
      const back = await openStream(t, server.url, door)
      const [first] = await back.first(1)
      assert.equal(first?.event, 'reset', door.path)
    }
  })

  test("a stream in a sandbox goes on at the users' door when the clock is moved, forward and back", async (t) => {
    const streams = (await listenAtDoors(t)).filter((_, index) => index % 2 === 0)
    for (const move of [{ advance: '30d' }, { real: true }]) {
      await control('clock', move)
      const id = await sides.write(sides.newUser())
      await until(
        async () => streams.every((stream) => countOf(stream, tells(id)) === 1),
        `heard after ${Object.keys(move)}`,
      )
    }
  })
})
