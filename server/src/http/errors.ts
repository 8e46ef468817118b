import { defineError, defineProblem } from '../graph/define-error.ts'
import { generalSubcode } from '../limits/errors.ts'

export const unknownVersion = defineError({
  id: 'unknown_version',
  status: 400,
  text: '{version} is not a version that is served; start the path with {starts}.',
})
/** For vocabularies whose clients ask for many versions. */
export const versionNotListed = defineError({
  id: 'version_not_listed',
  status: 400,
  text: '{version} is not a version that is served; start the path with {starts}, or list it in the setting VERSIONS.',
})
export const requestUnreadable = defineError({
  id: 'request_unreadable',
  status: 400,
  text: 'The request cannot be read ({reason}); check its path, headers and body.',
})
export const headersTooLarge = defineError({
  id: 'headers_too_large',
  status: 400,
  text: 'The headers are larger than {max} bytes; send fewer or shorter ones.',
})
export const requestTooLate = defineError({
  id: 'request_too_late',
  status: 400,
  text: 'The request did not arrive in time; send it again.',
})
export const requestBrokeOff = defineError({
  id: 'request_broke_off',
  status: 400,
  text: 'The request broke off before its end; send it again.',
})
export const requestNotHttp = defineError({
  id: 'request_not_http',
  status: 400,
  text: 'The request is not valid HTTP/1.1; check its request line and headers.',
})
export const contentTypeMissing = defineError({
  id: 'content_type_missing',
  status: 400,
  text: 'The body has no Content-Type; send it as {accepted}.',
})
export const contentTypeNotTaken = defineError({
  id: 'content_type_not_taken',
  status: 400,
  text: 'The Content-Type {given} is not accepted; send the body as {accepted}.',
})
export const jsonSentAsForm = defineError({
  id: 'json_sent_as_form',
  status: 400,
  text: 'The body looks like JSON but came as application/x-www-form-urlencoded; send it with the header "Content-Type: application/json".',
})
export const bodyTooLarge = defineError({
  id: 'body_too_large',
  status: 400,
  text: 'The body is larger than the {max} bytes that are accepted; send a smaller body.',
})
export const bodyTooLate = defineError({
  id: 'body_too_late',
  status: 400,
  text: 'The body did not arrive within {period}; send it faster, or with a token.',
})
export const bodyInTooManyPieces = defineError({
  id: 'body_in_too_many_pieces',
  status: 400,
  text: 'The body came in too many small pieces; send it in one piece, or with a token.',
})
export const bodyNotUtf8 = defineError({
  id: 'body_not_utf8',
  status: 400,
  text: 'The body is not valid UTF-8; send it in that encoding.',
})
export const bodyHoldsTooMuch = defineError({
  id: 'body_holds_too_much',
  status: 400,
  text: 'The body holds more than {values} values; send less.',
})
export const bodyTooDeep = defineError({
  id: 'body_too_deep',
  status: 400,
  text: 'The body is nested more than {levels} levels deep; send less.',
})
export const bodyNotJson = defineError({
  id: 'body_not_json',
  status: 400,
  text: 'The body is not valid JSON ({reason}); send one object in JSON.',
})
export const bodyNotAnObject = defineError({
  id: 'body_not_an_object',
  status: 400,
  text: 'The body must be a JSON object, such as {"name": "value"}.',
})
export const badEscape = defineError({
  id: 'bad_escape',
  status: 400,
  text: 'The {where} holds a percent sign that does not start an escaped UTF-8 character; write it as %25.',
})
export const tooManyFields = defineError({
  id: 'too_many_fields',
  status: 400,
  text: 'The form has more than {max} fields; send fewer.',
})
export const moreThanOneFile = defineProblem({
  id: 'more_than_one_file',
  text: 'there is more than one; send one file.',
})
export const uploadTooLarge = defineProblem({
  id: 'upload_too_large',
  text: 'it is too large; no file may have more than {max} bytes.',
})
export const tooMuchBesidesFile = defineError({
  id: 'too_much_besides_file',
  status: 400,
  text: 'The members besides the file are larger than the {max} bytes that are accepted; shorten them.',
})
export const boundaryMissing = defineError({
  id: 'boundary_missing',
  status: 400,
  text: 'The Content-Type multipart/form-data names no boundary that can be used; name one of 1 to {max} ASCII characters, such as boundary=abc.',
})
export const multipartEndsEarly = defineError({
  id: 'multipart_ends_early',
  status: 400,
  text: 'The multipart body ends before its last delimiter; end it with the boundary that its Content-Type names between two pairs of dashes.',
})
export const delimiterGoesOn = defineError({
  id: 'delimiter_goes_on',
  status: 400,
  text: 'The multipart body has a delimiter that goes on behind its boundary; end its line there, or choose a boundary that no content holds.',
})
export const headEndsInLineFeed = defineError({
  id: 'head_ends_in_line_feed',
  status: 400,
  text: 'The multipart body has a line in the head of a part that ends with only a line feed; end each line with a carriage return and a line feed.',
})
export const partHeadTooLong = defineError({
  id: 'part_head_too_long',
  status: 400,
  text: 'The multipart body has a part with a head of more than {max} bytes; send fewer or shorter headers.',
})
export const partHeadWithoutColon = defineError({
  id: 'part_head_without_colon',
  status: 400,
  text: 'The multipart body has a part whose head holds a line without a colon; write its headers, an empty line, and then the content.',
})
export const partWithoutName = defineError({
  id: 'part_without_name',
  status: 400,
  text: 'The multipart body has a part without a name; begin each with the header Content-Disposition: form-data; name="…".',
})
export const partNotInCharset = defineError({
  id: 'part_not_in_charset',
  status: 400,
  text: 'The part {part} of the multipart body is not valid {charset}; send it in UTF-8.',
})
export const tooManyParts = defineError({
  id: 'too_many_parts',
  status: 400,
  text: 'The multipart body has more than {max} members; send fewer.',
})
export const tooMuchFraming = defineError({
  id: 'too_much_framing',
  status: 400,
  text: 'The multipart body has more than {max} bytes that belong to no part; send shorter heads, and nothing around the parts.',
})
export const hostNotServed = defineError({
  id: 'host_not_served',
  status: 403,
  text: 'The Host {host} is not a name of this server; call it by its address, or add the name to its setting ALLOWED_HOSTS.',
})
export const foreignPage = defineError({
  id: 'foreign_page',
  status: 403,
  text: 'The request comes from a page of another site without the header Authorization; send the token in that header.',
})
export const methodUnknown = defineError({
  id: 'method_unknown',
  status: 404,
  text: 'There is no such operation as this {method}; this path accepts {methods}.',
})
export const pathOfAnotherVocabulary = defineError({
  id: 'path_of_another_vocabulary',
  status: 404,
  text: 'There is no such operation as this {method}; its path has a name of another vocabulary: write {name} for {other}, or start the server with VOCABULARY={other}.',
})
export const pathMisspelt = defineError({
  id: 'path_misspelt',
  status: 404,
  text: 'There is no such operation as this {method}; did you mean {nearest}?',
})
export const pathUnknown = defineError({
  id: 'path_unknown',
  status: 404,
  text: 'There is no such operation as this {method}; paths start with /{version}/ and the id of an object, and /docs lists all of them.',
})
export const notAProxy = defineError({
  id: 'not_a_proxy',
  status: 404,
  text: 'There is no such operation as this {method}; this service is not a proxy.',
})
export const tooManyWrites = defineError({
  id: 'too_many_writes',
  status: 429,
  subcode: generalSubcode,
  text: 'Too many writes of this app wait for their turn; try again in {seconds} s.',
})
export const tooManyConnections = defineError({
  id: 'too_many_connections',
  status: 429,
  subcode: generalSubcode,
  text: 'Too many connections are open from this address; try again in {seconds} s.',
})
export const tooManyWaiting = defineError({
  id: 'too_many_waiting',
  status: 429,
  subcode: generalSubcode,
  text: 'Too many requests of this connection wait for their responses: {max} are the most; wait for a response before the next one.',
})
export const tooManyBodies = defineError({
  id: 'too_many_bodies',
  status: 429,
  subcode: generalSubcode,
  text: 'Bodies with more than {max} bytes in all are arriving with this token; send fewer at once, and try again in {seconds} s.',
})
export const tooManyUnauthenticatedBodies = defineError({
  id: 'too_many_unproven_bodies',
  status: 429,
  subcode: generalSubcode,
  text: 'Too many signed bodies are arriving at once; try again in {seconds} s.',
})
export const proofWrong = defineProblem({
  id: 'appsecret_proof_wrong',
  text: "it must be the HMAC-SHA256 of the access token with the secret of the token's app, in hexadecimal digits.",
})
export const proofMissing = defineProblem({
  id: 'appsecret_proof_missing',
  text: "the token's app demands it; it must be the HMAC-SHA256 of the access token with the app's secret, in hexadecimal digits.",
})
