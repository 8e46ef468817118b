"""A business's agent on a WebRTC stack that shares nothing with ours: Debian's python3-aiortc.

usage: aiortc-agent.py BASE TOKEN NUMBER CALLBACK_PORT [USER]

It sends a tone of 523 Hz, measures what it hears, and prints an object a line. With a USER it calls; otherwise it takes one call.
"""

import asyncio
import fractions
import json
import sys

import aioice.ice
import numpy
from aiohttp import ClientSession, web
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from av import AudioFrame

# The stack leaves out the address of the machine itself, and nothing may leave the machine.
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]

BASE, TOKEN, NUMBER, PORT = sys.argv[1:5]
USER = sys.argv[5] if len(sys.argv) > 5 else None
RATE = 48_000
FRAME = 960
HZ = 523


def report(event, **rest):
    print(json.dumps({"event": event, **rest}), flush=True)


class Tone(MediaStreamTrack):
    """A sine, one frame every 20 ms; silence until the call is accepted."""

    kind = "audio"

    def __init__(self):
        super().__init__()
        self.at = 0
        self.may_speak = False
        self.began = None

    async def recv(self):
        loop = asyncio.get_running_loop()
        self.began = self.began or loop.time()
        await asyncio.sleep(max(0, self.began + self.at / RATE - loop.time()))
        times = (self.at + numpy.arange(FRAME)) / RATE
        loudness = 12_000 if self.may_speak else 0
        samples = (loudness * numpy.sin(2 * numpy.pi * HZ * times)).astype(numpy.int16)
        frame = AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = RATE
        frame.pts = self.at
        frame.time_base = fractions.Fraction(1, RATE)
        self.at += FRAME
        return frame


def measure(samples):
    """The loudest frequency of the last second, in hertz; none of silence."""
    last = samples[-RATE:]
    if len(last) < RATE or numpy.sqrt(numpy.mean(last.astype(float) ** 2)) < 100:
        return None
    return int(numpy.argmax(numpy.abs(numpy.fft.rfft(last * numpy.hanning(len(last))))) * RATE / len(last))


class Agent:
    def __init__(self, api):
        self.api = api
        # No server is asked for an address.
        self.peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.tone = Tone()
        self.heard = numpy.zeros(0, dtype=numpy.int16)
        self.call_id = None
        self.work = set()
        self.done = asyncio.Event()
        self.peer.addTrack(self.tone)
        self.peer.on("track", lambda track: self.start(self.listen(track)))
        self.peer.on("connectionstatechange", lambda: report("state", state=self.peer.connectionState))

    def start(self, coroutine):
        task = asyncio.ensure_future(coroutine)
        self.work.add(task)
        task.add_done_callback(self.work.discard)

    async def listen(self, track):
        while True:
            try:
                frame = await track.recv()
            except Exception:
                return  # The track ends with the call.
            samples = frame.to_ndarray().reshape(-1, len(frame.layout.channels))[:, 0]
            self.heard = numpy.concatenate([self.heard, samples])[-2 * RATE :]

    async def post(self, path, body):
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with self.api.post(f"{BASE}/v23.0/{path}", json=body, headers=headers) as response:
            answer = await response.json()
            if response.status != 200:
                report("error", message=f"{response.status}: {answer}")
                self.done.set()
            return answer

    def act(self, action, **rest):
        return self.post(f"{NUMBER}/calls", {"messaging_product": "msgapp", "action": action, **rest})

    async def take(self, call):
        self.call_id = call["id"]
        await self.peer.setRemoteDescription(RTCSessionDescription(call["session"]["sdp"], "offer"))
        await self.peer.setLocalDescription(await self.peer.createAnswer())
        session = {"sdp_type": "answer", "sdp": self.peer.localDescription.sdp}
        await self.act("pre_accept", call_id=self.call_id, session=session)
        await self.act("accept", call_id=self.call_id, session=session)
        self.tone.may_speak = True

    async def call(self):
        await self.peer.setLocalDescription(await self.peer.createOffer())
        session = {"sdp_type": "offer", "sdp": self.peer.localDescription.sdp}
        answer = await self.act("connect", to=USER, session=session)
        self.call_id = answer["calls"][0]["id"]
        report("call", call_id=self.call_id)

    async def on_call(self, call):
        if call["event"] == "terminate":
            report("ended", call_id=call["id"], hz=measure(self.heard))
            self.done.set()
        elif call["event"] == "connect" and USER is None:
            await self.take(call)
        elif call["event"] == "connect":
            await self.peer.setRemoteDescription(RTCSessionDescription(call["session"]["sdp"], "answer"))

    async def on_webhook(self, request):
        if request.method == "GET":
            return web.Response(text=request.query.get("hub.challenge", ""))
        for entry in (await request.json())["entry"]:
            for change in entry["changes"]:
                value = change["value"]
                # Answered inside the handler, as frameworks do.
                for call in value.get("calls", []):
                    await self.on_call(call)
                if any(status.get("status") == "ACCEPTED" for status in value.get("statuses", [])):
                    self.tone.may_speak = True
        return web.Response()


async def main():
    async with ClientSession() as api:
        agent = Agent(api)
        app = web.Application()
        app.router.add_route("*", "/", agent.on_webhook)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", int(PORT)).start()
        uri = f"http://127.0.0.1:{PORT}/"
        configuration = {"override_callback_uri": uri, "verify_token": "aiortc", "temporary": True}
        await agent.post(NUMBER, {"webhook_configuration": configuration})
        report("ready")
        if USER is not None:
            await agent.call()
        await agent.done.wait()
        await agent.peer.close()
        await agent.post(NUMBER, {"webhook_configuration": {"override_callback_uri": "", "temporary": True}})
        await runner.cleanup()


asyncio.run(main())
