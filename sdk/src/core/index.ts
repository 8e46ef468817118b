export type { Body, ByteStream, FileInput } from './body.ts'
export { Call, callRow, type WithResponse } from './call.ts'
export {
  type AnyClient,
  Client,
  type ClientOptions,
  type Fetch,
  type FetchedResponse,
  type FetchInit,
  type FetchOptions,
  type Row,
  type Token,
} from './client.ts'
export * from './errors.ts'
export { ListCall, Page, type Paging } from './list.ts'
export type { Logger, LogLevel } from './logger.ts'
export { type RawRequest, request } from './raw.ts'
export type { KeyedRequestOptions, RequestOptions } from './request.ts'
export { EventStream, type StreamOptions, type StreamReset } from './stream.ts'
