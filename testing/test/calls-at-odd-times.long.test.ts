import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { Switchboard } from '@switchboard/client'
import { useSwitchboard } from '@switchboard/testing/node'
import { Agent, CallSound, callWithSound, makeTone, type VoiceEvent } from '@switchboard/voice'
import { until } from '../../server/test/harness/until.ts'

const user = '16505551234'
const addresses = ['127.0.0.1']

/** Requests and responses of a client, on their way. */
type Pass = (method: string, path: string, body: string, send: () => Promise<Response>) => Promise<Response>

describe('peers of calls, when the server says things late, early or not at all', () => {
  const sb = useSwitchboard()

  function makeClient(pass: Pass = (_method, _path, _body, send) => send()): Switchboard {
    const { url: baseUrl, token, gatewayToken } = sb
    return new Switchboard({
      ...{ baseUrl, token, gatewayToken },
      fetch: ((input: string | URL, init: RequestInit = {}) =>
        pass(init.method ?? 'GET', new URL(input).pathname, String(init.body ?? ''), () =>
          fetch(input, init),
        )) as typeof fetch,
    })
  }

  /** A voice agent in this process; it ends with the test. */
  async function startAgent(
    t: TestContext,
    { pass, takesCalls = true, record }: { pass?: Pass; takesCalls?: boolean; record?: string } = {},
  ) {
    const events: VoiceEvent[] = []
    const agent = await Agent.open({
      client: makeClient(pass),
      ...{ url: sb.url, number: sb.number, mode: 'tone', addresses, takesCalls, record },
      makeSource: () => makeTone(523),
      onEvent: (event) => events.push(event),
    })
    t.after(() => agent.close())
    const whenHappened = (name: VoiceEvent['event']) =>
      until(
        () => events.some(({ event }) => event === name),
        () => `${name} happens: ${JSON.stringify(events)}`,
      )
    return { agent, events, whenHappened }
  }

  /** What a business is sent about a call. */
  async function notify(callback: string, call: object): Promise<void> {
    const body = JSON.stringify({ entry: [{ changes: [{ field: 'calls', value: { calls: [call] } }] }] })
    assert.equal((await fetch(callback, { method: 'POST', body })).status, 200)
  }

  test('an agent says first that it is ready, also when a call comes before', async (t) => {
    const { events, whenHappened } = await startAgent(t, {
      pass: async (method, path, body, send) => {
        const response = await send()
        const callback = path.endsWith(sb.number) && body !== '' && JSON.parse(body).webhook_configuration
        if (method === 'POST' && callback?.override_callback_uri) {
          const call = { id: 'wacid.early', event: 'connect', direction: 'USER_INITIATED', from: user }
          await notify(callback.override_callback_uri, { ...call, session: { sdp_type: 'offer', sdp: 'v=0\r\n' } })
        }
        return response
      },
    })
    await whenHappened('ended')
    assert.deepEqual(
      events.map(({ event }) => event).filter((event) => event !== 'error'),
      ['ready', 'call', 'ended'],
    )
  })

  test('an agent that was replaced leaves the calls to its successor', async (t) => {
    const first = await startAgent(t)
    const second = await startAgent(t)
    await first.agent.close()
    const { connected } = await sb.user(user).call({ for: 100 })
    assert.equal(connected, true)
    await second.whenHappened('ended')
    assert.equal(first.events.length, 1)
  })

  test('an agent that cannot record any more declines, and says why', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'switchboard-calls-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const { events } = await startAgent(t, { record: join(folder, 'heard.ogg') })
    await rm(folder, { recursive: true })
    await assert.rejects(sb.user(user).call({ for: 100 }), /the business declined the call/)
    const messages = events.flatMap((event) => (event.event === 'error' ? [event.message] : []))
    assert.match(messages.join('\n'), /^\S+heard\.ogg cannot be written \(ENOENT\).*$/)
  })

  test('a call that was taken counts as taken, also when only its end is reported', async (t) => {
    let callback = ''
    const { agent } = await startAgent(t, {
      takesCalls: false,
      pass: (_method, _path, body, send) => {
        callback ||= (body !== '' && JSON.parse(body).webhook_configuration?.override_callback_uri) || ''
        return send()
      },
    })
    const permission = { phone_number_id: sb.number, user_wa_id: user, status: 'granted' } as const
    await sb.client.gateway.callPermissions.update(permission)
    for (const status of ['FAILED', 'COMPLETED']) {
      const call = await agent.call(user)
      await notify(callback, { id: call.id, event: 'terminate', direction: 'BUSINESS_INITIATED', status })
      await call.ended
      assert.equal(call.isAccepted, status === 'COMPLETED')
      await sb.client.gateway.calls.terminate(call.id)
    }
  })

  test('a phone was connected, also when it sees only the end of a call that was taken', async (t) => {
    const { agent, whenHappened } = await startAgent(t)
    const isConnected = Promise.withResolvers<void>()
    const calling = callWithSound(
      makeClient(async (method, path, _body, send) => {
        const response = await send()
        if (method !== 'GET' || !/\/gateway\/calls\/[^/]+$/.test(path)) return response
        const call = (await response.json()) as { state: string }
        // As if it had read it a moment before.
        return Response.json(call.state === 'accepted' ? { ...call, state: 'ringing' } : call)
      }),
      { with: { to: sb.number, from: user }, durationMs: 3_600_000, addresses },
      ({ event }) => event === 'connected' && isConnected.resolve(),
    )
    await Promise.all([isConnected.promise, whenHappened('connected')])
    await agent.close()
    const { connected, by, problem } = await calling
    assert.deepEqual({ connected, by, problem }, { connected: true, by: 'business', problem: undefined })
  })

  test('a phone whose business is another one than it says does not connect, and says so', async (t) => {
    await startAgent(t)
    const client = makeClient(async (method, path, _body, send) => {
      const response = await send()
      if (method !== 'GET' || !/\/gateway\/calls\/[^/]+$/.test(path)) return response
      const text = await response.text()
      return new Response(
        text.replace(
          /(a=fingerprint:sha-256 )(?:[0-9A-F]{2}:){31}(?=[0-9A-F]{2}\\r\\na=setup:active)/,
          `$1${'AA:'.repeat(31)}`,
        ),
        response,
      )
    })
    const { connected, by, problem } = await callWithSound(client, { with: { to: sb.number, from: user }, addresses })
    assert.deepEqual({ connected, by }, { connected: false, by: 'lost' })
    assert.match(problem ?? '', /no connection/)
  })

  test('a phone that hangs up says why there was no connection, also when it hears of the end first', async () => {
    const stopped = Promise.withResolvers<void>()
    const sawEnd = Promise.withResolvers<void>()
    const client = makeClient(async (method, path, body, send) => {
      const response = await send()
      if (!path.includes('/gateway/calls/')) return response
      const { state } = (await response.clone().json()) as { state?: string }
      if (method === 'GET' && state === 'ended') sawEnd.resolve()
      // Its own request is answered after the event that it set off was followed by another request.
      if (body.includes('terminate')) await sawEnd.promise
      return response
    })
    const request = { with: { to: sb.number, from: user }, addresses, stopped: stopped.promise }
    const { by, problem } = await callWithSound(client, request, ({ event }) => event === 'call' && stopped.resolve())
    assert.deepEqual({ by, problem }, { by: 'user', problem: 'the call ended before it was connected' })
  })

  test('an agent leaves a call that gets no connection', async (t) => {
    const { events, whenHappened } = await startAgent(t)
    const gone = new CallSound({ addresses, iceServers: [], source: makeTone(440) })
    const sdp = await gone.offer()
    await gone.close()
    const request = { phone_number_id: sb.number, from: user, session: { sdp_type: 'offer', sdp } } as const
    const { call_id } = await sb.client.gateway.calls.start(request)
    await whenHappened('ended')
    const said = events.flatMap((event) => (event.event === 'error' ? [event.message] : []))
    assert.deepEqual(said, ['no connection to the phone within 15 s'])
    assert.ok(events.some((event) => event.event === 'ended' && event.by === 'lost'))
    assert.equal((await sb.client.gateway.calls.retrieve(call_id)).state, 'ended')
  })

  test('a program whose call is over ends by itself, however long the user wanted to stay', async (t) => {
    const { agent, events } = await startAgent(t)
    const { url: baseUrl, gatewayToken } = sb
    const program = `
      import { Switchboard } from '@switchboard/client'
      import { callWithSound } from '@switchboard/voice'
      const client = new Switchboard(${JSON.stringify({ baseUrl, gatewayToken })})
      const request = ${JSON.stringify({ with: { to: sb.number, from: user }, durationMs: 3_600_000, addresses })}
      const { by, connected } = await callWithSound(client, { ...request, dtmf: '1' })
      process.stdout.write(JSON.stringify({ by, connected }))`
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
    const child = spawn(process.execPath, args, { cwd: import.meta.dirname })
    t.after(() => child.kill('SIGKILL'))
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += String(chunk)
      })
    }
    const closed = once(child, 'close')
    let code: unknown
    void closed.then(([ending]) => {
      code = ending
    })
    await until(
      () => code !== undefined || events.some(({ event }) => event === 'dtmf'),
      () => `a key comes: ${JSON.stringify(events)}${output}`,
    )
    await agent.close()
    await until(
      () => code !== undefined,
      () => `the program ends: ${output}`,
    )
    assert.deepEqual([code, output], [0, '{"by":"business","connected":true}'])
  })
})
