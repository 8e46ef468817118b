/** The shortest session descriptions for a voice call, for the rows' examples. */
export const exampleOffer = writeExample('2890844526')
export const exampleAnswer = writeExample('2890844730')

function writeExample(sessionId: string): string {
  const lines = [
    'v=0',
    `o=- ${sessionId} 2 IN IP4 127.0.0.1`,
    's=-',
    't=0 0',
    'm=audio 9 UDP/TLS/RTP/SAVPF 111',
    'c=IN IP4 0.0.0.0',
    'a=rtpmap:111 opus/48000/2',
    'a=sendrecv',
  ]
  return `${lines.join('\r\n')}\r\n`
}
