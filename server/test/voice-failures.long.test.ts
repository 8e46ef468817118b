import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import { runProcess, startCommand } from './harness/command.ts'
import { ada, number } from './harness/console-page.ts'
import { startSink } from './harness/sink.ts'
import { until } from './harness/until.ts'
import { loopback, readEvents, whenHappened } from './harness/voice-commands.ts'
import { VoiceWorld } from './harness/voice-world.ts'

const agentOfNumber = ['agent', '--number', number, ...loopback] as const

/** A business's own server: it agrees to the handshake, and keeps what it is sent. */
async function startCallback(t: Parameters<typeof startSink>[0]) {
  return startSink(t, ({ method, target }, response) => {
    const challenge = new URL(target, 'http://sink').searchParams.get('hub.challenge')
    response.writeHead(200).end(method === 'GET' ? challenge : '')
  })
}

test('the callback of a number comes back, however its agent ended', async (t) => {
  const world = await VoiceWorld.start(t)
  const own = await startCallback(t)
  const posts = () => own.requests.filter(({ method, body }) => method === 'POST' && body.includes('"calls"')).length
  const body = { webhook_configuration: { override_callback_uri: own.url, verify_token: 'mine' } }
  const changed = await fetch(`${world.server.url}/v23.0/${number}`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-token', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.equal(changed.status, 200, await changed.text())
  const before = world.readCallback()

  await t.test('stopped in the middle of a call', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const agent = await world.startAgent('tone')
      const phone = await world.startCall('--dtmf', '1', '--for', '60s')
      await whenHappened(agent, 'connected')
      const began = performance.now()
      const { code, stdout, stderr } = await agent.stop(signal)
      assert.ok(performance.now() - began < 2000)
      assert.equal(code, 0, stderr)
      assert.match(stdout, /"event":"ended".*"by":"business"/)
      assert.match((await phone.ended).stdout, /"event":"ended".*"by":"business"/)
      assert.deepEqual(world.readCallback(), before)
    }
  })

  await t.test('killed, and put back by --restore', async () => {
    const agent = await world.startAgent('tone')
    const phone = await world.startCall('--dtmf', '1', '--for', '60s')
    await agent.stop('SIGKILL')
    const { code, stdout, stderr } = await world.run(['agent', '--restore', '--number', number])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /as it was before/)
    assert.deepEqual(world.readCallback(), before)
    await phone.stop('SIGTERM')
    const seen = posts()
    const { call_id } = await world.gateway('calls', { phone_number_id: number, from: ada, session: offer })
    await until(() => posts() > seen, "the business's own callback hears of the next call")
    await world.gateway(`calls/${call_id}`, { action: 'terminate' })
  })

  await t.test('killed, and followed by another agent', async () => {
    const killed = await world.startAgent('tone')
    await killed.stop('SIGKILL')
    const next = await world.startAgent('tone', '--hz', '523')
    const { code, stdout, stderr } = await world.callNumber('--dtmf', '1', '--for', '2s', '--expect-sound')
    assert.equal(code, 0, stdout + stderr)
    await next.stop('SIGTERM')
    assert.deepEqual(world.readCallback(), before)
  })
})

test('commands end in time, also while the server is frozen', async (t) => {
  const world = await VoiceWorld.start(t)
  const agent = await world.startAgent('tone')
  const phone = await world.startCall('--dtmf', '1', '--for', '1h')
  await whenHappened(agent, 'connected')
  process.kill(world.server.pid, 'SIGSTOP')
  const began = performance.now()
  const [own, other] = await Promise.all([agent.stop('SIGTERM'), phone.stop('SIGTERM')])
  const took = performance.now() - began
  process.kill(world.server.pid, 'SIGCONT')
  assert.ok(took < 2000, `they ended after ${took} ms`)
  assert.equal(own.code, 0, own.stderr)
  assert.match(own.stderr, /is still that of this agent, because the server did not answer in time/)
  assert.match(own.stdout, /"event":"ended".*"by":"business"/)
  assert.equal(other.code, 1)
  assert.match(other.stderr, /^switchboard: http\S+ does not answer: .*\n$/)
})

/** Enough for a call that nobody connects. */
const offer = {
  sdp_type: 'offer',
  sdp: [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    's=-',
    't=0 0',
    'm=audio 9 UDP/TLS/RTP/SAVPF 111 126',
    'c=IN IP4 127.0.0.1',
    'a=mid:0',
    'a=sendrecv',
    'a=rtcp-mux',
    'a=rtpmap:111 opus/48000/2',
    'a=rtpmap:126 telephone-event/8000',
    '',
  ].join('\r\n'),
}

test('a side that vanishes is noticed by the other', async (t) => {
  const world = await VoiceWorld.start(t, { CALL_MEDIA_TIMEOUT: '8s' })

  await t.test('an agent that is frozen: no_media', async () => {
    const agent = await world.startAgent('tone')
    const phone = await world.startCall('--dtmf', '1', '--for', '60s')
    process.kill(agent.pid, 'SIGSTOP')
    const { code, stdout } = await phone.ended
    process.kill(agent.pid, 'SIGCONT')
    assert.equal(code, 0)
    const { call_id, by } = await whenHappened(phone, 'ended')
    assert.equal(by, 'lost', stdout)
    const codes = (await world.doors.read(call_id)).findings.map((finding) => finding.code)
    assert.deepEqual(codes, ['no_media'])
    await whenHappened(agent, 'ended')
    assert.equal((await agent.stop('SIGTERM')).code, 0)
  })

  await t.test('an agent that was frozen for a moment goes on', async () => {
    const agent = await world.startAgent('tone')
    const phone = await world.startCall('--dtmf', '1', '--for', '8s', '--expect-sound')
    process.kill(agent.pid, 'SIGSTOP')
    // As long as the freeze lasts is what is tried here.
    await new Promise((resolve) => setTimeout(resolve, 2000))
    process.kill(agent.pid, 'SIGCONT')
    const { code, stderr } = await phone.ended
    assert.equal(code, 0, stderr)
    assert.equal((await whenHappened(phone, 'ended')).by, 'user')
    await agent.stop('SIGTERM')
  })

  await t.test('a phone that was killed: the agent ends the call as lost', async () => {
    const agent = await world.startAgent('tone')
    const phone = await world.startCall('--dtmf', '1', '--for', '60s')
    await phone.stop('SIGKILL')
    assert.equal((await whenHappened(agent, 'ended')).by, 'lost')
    await agent.stop('SIGTERM')
  })

  await t.test('a call goes on while the server starts again', async () => {
    const agent = await world.startAgent('tone')
    const phone = await world.startCall('--dtmf', '1', '--for', '1h', '--expect-sound')
    await world.restart()
    const { code, stdout, stderr } = await phone.stop('SIGTERM')
    assert.equal(code, 0, stdout + stderr)
    assert.equal((await whenHappened(agent, 'ended')).by, 'user')
    const after = await world.callNumber('--dtmf', '1', '--for', '1s', '--expect-sound')
    assert.equal(after.code, 0, after.stderr)
    assert.equal((await agent.stop('SIGTERM')).code, 0)
  })

  await t.test('requests of any form do not end an agent', async () => {
    const agent = await world.startAgent('tone')
    const { temporary } = world.readCallback()
    assert.ok(temporary !== null)
    const { origin } = new URL(temporary)
    assert.equal((await fetch(`${origin}//`)).status, 404)
    for (const body of ['{', '5', '{"entry":5}', '{"entry":[{"changes":[{"field":"calls","value":{"calls":7}}]}]}']) {
      assert.equal((await fetch(temporary, { method: 'POST', body })).status, 400, body)
    }
    const terminate = { id: 'wacid.early', event: 'terminate', direction: 'USER_INITIATED', from: ada }
    const connect = { ...terminate, event: 'connect', session: offer }
    for (const call of [terminate, connect, connect]) {
      const text = JSON.stringify({ entry: [{ changes: [{ field: 'calls', value: { calls: [call] } }] }] })
      assert.equal((await fetch(temporary, { method: 'POST', body: text })).status, 200)
    }
    assert.equal((await world.callNumber('--dtmf', '1', '--for', '1s', '--expect-sound')).code, 0)
    const calls = readEvents(agent).filter(({ event }) => event === 'call' || event === 'error')
    assert.equal(calls.length, 1, agent.stdout())
    assert.equal((await agent.stop('SIGTERM')).code, 0)
  })
})

test('an edge plays the phones of users', async (t) => {
  const world = await VoiceWorld.start(t, { CALL_RING_TIME: '10s' })
  await world.permitCalls()
  const at = ['serve', '--role', 'media', '--port', '0', '--url', world.server.url, ...loopback]
  const edge = await startCommand([...at, '--token', 'demo-gateway-token'], { cwd: world.cwd })
  t.after(() => edge.stop('SIGKILL'))
  const read = async (path: string) => (await fetch(`${edge.url}${path}`)).text()
  const setUser = (changes: object) => world.gateway(`users/${ada}`, changes)

  await t.test('health and metrics', async () => {
    assert.match(await read('/healthz'), /alive/)
    assert.match(await read('/readyz'), /"ready"/)
    assert.match(await read('/metrics'), /switchboard_edge_calls_taken_total 0/)
    assert.equal((await fetch(`${edge.url}//`)).status, 404)
  })

  const recording = world.path('echo.ogg')
  const callUser = async () => {
    const agent = await world.startAgent('tone', '--hz', '523', '--call', ada, '--record', recording)
    return { agent, id: (await whenHappened(agent, 'call')).call_id }
  }

  await t.test('it takes the call of a user who can be reached, also after a restart of the server', async () => {
    await setUser({ presence: 'online', reachable: true })
    for (const again of [false, true]) {
      if (again) {
        await world.restart()
        await until(async () => (await read('/readyz')).includes('"ready"'), 'the edge listens again')
      }
      const { agent, id } = await callUser()
      await whenHappened(agent, 'connected')
      await until(() => world.doors.read(id).then(({ state }) => state === 'accepted'), 'the call was taken')
      // A second of a tone has about 4 kB, one of silence 200 bytes.
      await until(async () => (await stat(recording)).size > 10_000, 'the echo is heard')
      const { code, stderr } = await agent.stop('SIGTERM')
      assert.equal(code, 0, stderr)
      const ended = await whenHappened(agent, 'ended')
      assert.ok(Math.abs((ended.heard.hz ?? 0) - 523) <= 5, JSON.stringify(ended))
    }
  })

  await t.test('it leaves the calls of others alone', async () => {
    for (const user of [{ presence: 'offline' }, { presence: 'online', reachable: false }]) {
      await setUser(user)
      const { code, stderr } = await (await callUser()).agent.ended
      assert.equal(code, 1)
      assert.match(stderr, /did not take the call/)
    }
    await setUser({ presence: 'online', reachable: true })
    // Without a process of its own, because the phone has a second to say that it rings.
    const ringing = await world.doors.callUser(offer.sdp)
    await world.gateway(`calls/${ringing}`, { action: 'ringing' })
    assert.equal((await world.doors.whenState(ringing, 'ended')).ending, 'timed_out')
  })

  await t.test('SIGTERM ends its calls', async () => {
    const { agent } = await callUser()
    await whenHappened(agent, 'connected')
    const { code, stderr } = await edge.stop('SIGTERM')
    assert.equal(code, 0, stderr)
    const own = await agent.ended
    assert.equal(own.code, 0, own.stderr)
    assert.match(own.stdout, /"by":"user"/)
  })

  await t.test('a wrong token ends it with one line', async () => {
    const { code, stderr } = await runProcess([...at, '--token', 'wrong'], { cwd: world.cwd })
    assert.equal(code, 1)
    assert.match(stderr, /^switchboard: .* does not accept the token.*\n$/)
  })
})

test('a call with sound in the vocabulary of the public platform, on PostgreSQL', async (t) => {
  const world = await VoiceWorld.start(t, { VOCABULARY: 'whatsapp', SDP_STRICT: 'on' }, 'postgres')
  const agent = await world.startAgent('echo')
  const tone = await world.makeTone(660)
  const { code, stdout, stderr } = await world.callNumber('--audio', tone, '--expect-sound')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /"hz":6[56]\d/)
  assert.equal((await agent.stop('SIGTERM')).code, 0)
})

test('a wrong flag is one clear line', async (t) => {
  const world = await VoiceWorld.start(t)
  const call = ['simulate', 'call', '--to', number, '--from', ada, ...loopback] as const
  const picture = world.path('switchboard.db')
  const wrong: (readonly [args: readonly string[], line: RegExp])[] = [
    [agentOfNumber, /a mode is missing: give echo, tone, beep, record/],
    [[...agentOfNumber, 'hum'], /hum is no mode/],
    [[...agentOfNumber, 'record'], /--record/],
    [[...agentOfNumber, 'tone', '--hz', '0'], /--hz 0/],
    [[...agentOfNumber, 'tone', '--record', '/nowhere/heard.ogg'], /\/nowhere\/heard.ogg cannot be written \(ENOENT\)/],
    [[...agentOfNumber, 'tone', '--record', world.cwd], /cannot be written \(EISDIR\)/],
    [[...agentOfNumber, 'tone', '--address', '203.0.113.9'], /203.0.113.9 is no address of this machine/],
    [[...agentOfNumber, 'tone', '--port', new URL(world.server.url).port], /EADDRINUSE/],
    [['agent', 'tone', '--number', '4999', ...loopback], /404/],
    [[...agentOfNumber, 'tone', '--token', 'wrong'], /401/],
    [[...call, '--audio', 'missing.wav'], /missing.wav cannot be read \(ENOENT\)/],
    [[...call, '--audio', picture], /is no sound file/],
    [[...call, '--dtmf', '1', '--loss', '101'], /--loss 101/],
    [[...call, '--dtmf', 'x'], /x is no key/],
    [[...call, '--dtmf', '1', '--for', 'x'], /--for x is no duration/],
    [[...call, '--dtmf', '1', '--token', 'wrong'], /401/],
  ]
  for (const [args, line] of wrong) {
    const { code, stderr } = await world.run(args)
    assert.equal(code, 1, `${args.join(' ')}: ${stderr}`)
    assert.match(stderr, line)
    assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
  }
  const away = ['--url', 'http://127.0.0.1:1']
  const { code, stderr } = await runProcess([...agentOfNumber, 'tone', ...away], { cwd: world.cwd })
  assert.equal(code, 1)
  assert.match(stderr, /cannot be reached \(ECONNREFUSED\)/)
})
