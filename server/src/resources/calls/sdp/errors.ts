import { defineError } from '../../../graph/define-error.ts'

export const sdpLineWrong = defineError({
  id: 'sdp_line_wrong',
  status: 400,
  text: 'session.sdp: line {line} must be {expected}.',
})
export const sdpTooManyLines = defineError({
  id: 'sdp_too_many_lines',
  status: 400,
  text: 'session.sdp: line {line} is one too many; a session description has at most {max} lines.',
})
export const sdpLineEmpty = defineError({
  id: 'sdp_line_empty',
  status: 400,
  text: 'session.sdp: line {line} is empty; every line is a letter, "=" and a value.',
})
export const sdpCarriageReturn = defineError({
  id: 'sdp_carriage_return',
  status: 400,
  text: 'session.sdp: line {line} holds a carriage return; lines end in CRLF or LF.',
})
export const sdpValueMissing = defineError({
  id: 'sdp_value_missing',
  status: 400,
  text: 'session.sdp: line {line} has no value after "{start}"; give one, or leave out the line.',
})
export const sdpOrderWrong = defineError({
  id: 'sdp_order_wrong',
  status: 400,
  text: 'session.sdp: line {line} starts with {type}=, but {place} must come {allowed}.',
})
export const sdpEndsEarly = defineError({
  id: 'sdp_ends_early',
  status: 400,
  text: 'session.sdp: line {line} is the last, but must be followed by {allowed}.',
})
export const sdpWithoutAudio = defineError({
  id: 'sdp_without_audio',
  status: 400,
  text: 'session.sdp: line {line} is the last, but there is no m=audio line; a call needs one.',
})
export const sdpWithoutConnection = defineError({
  id: 'sdp_without_connection',
  status: 400,
  text: 'session.sdp: line {line} starts a media section without a c= line; each needs one when there is none above the first m= line.',
})
export const sdpAttributeOfMedia = defineError({
  id: 'sdp_attribute_of_media',
  status: 400,
  text: 'session.sdp: line {line} is a={name}; put it below an m= line, where it belongs.',
})
export const sdpAttributeOfSession = defineError({
  id: 'sdp_attribute_of_session',
  status: 400,
  text: 'session.sdp: line {line} is a={name}; put it above the first m= line, where it belongs.',
})
export const sdpNetworkType = defineError({
  id: 'sdp_network_type',
  status: 400,
  text: 'session.sdp: line {line} has the network type {value}; it must be IN.',
})
export const sdpAddressType = defineError({
  id: 'sdp_address_type',
  status: 400,
  text: 'session.sdp: line {line} has the address type {value}; it must be IP4 or IP6.',
})
export const sdpAddress = defineError({
  id: 'sdp_address',
  status: 400,
  text: 'session.sdp: line {line} has the address {value}; it must be an {type} address or a host name.',
})
export const sdpMulticastIp4 = defineError({
  id: 'sdp_multicast_ip4',
  status: 400,
  text: 'session.sdp: line {line} has a multicast address; /<ttl> from 0 to 255 must follow it, and /<count> may.',
})
export const sdpMulticastIp6 = defineError({
  id: 'sdp_multicast_ip6',
  status: 400,
  text: 'session.sdp: line {line} has a multicast address; only /<count> may follow it.',
})
export const sdpPort = defineError({
  id: 'sdp_port',
  status: 400,
  text: 'session.sdp: line {line} has the port {value}; it must be from 0 to 65535.',
})
export const sdpFormat = defineError({
  id: 'sdp_format',
  status: 400,
  text: 'session.sdp: line {line} has the format {value}; with {proto} formats are payload types from 0 to 127.',
})
