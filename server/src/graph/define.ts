import { type TObject, type TSchema, Type } from 'typebox'
import type {
  EdgeLinkRow,
  GatewayRead,
  GatewayWrite,
  HandshakeRow,
  LinkRow,
  NewOperation,
  NewReplyOperation,
  OpenOperation,
  OpenRow,
  OperatorControl,
  OperatorRead,
  OperatorReplyRow,
  OperatorWrite,
  ReadOperation,
  ReceiverRow,
  StreamRow,
  TokenRead,
  TokenWrite,
  WriteOperation,
} from './operation.ts'
import type { ReplyContent } from './reply.ts'

/** What a definition leaves to the defining function, and to the table. */
type Given = 'door' | 'effect' | 'chapter'

export function defineRead<I extends TObject, O extends TSchema>(row: Omit<ReadOperation<I, O>, Given>): NewOperation {
  return { ...row, door: 'business', effect: 'read' } as unknown as NewOperation
}

export function defineWrite<I extends TObject, O extends TSchema, P = undefined>(
  row: Omit<WriteOperation<I, O, P>, Given>,
): NewOperation {
  return { ...row, door: 'business', effect: 'write' } as unknown as NewOperation
}

export function defineTokenRead<I extends TObject, O extends TSchema>(row: Omit<TokenRead<I, O>, Given>): NewOperation {
  return { ...row, door: 'token', effect: 'read' } as unknown as NewOperation
}

export function defineTokenWrite<I extends TObject, O extends TSchema>(
  row: Omit<TokenWrite<I, O>, Given>,
): NewOperation {
  return { ...row, door: 'token', effect: 'write' } as unknown as NewOperation
}

export function defineGatewayRead<I extends TObject, O extends TSchema>(
  row: Omit<GatewayRead<I, O>, Given>,
): NewOperation {
  return { ...row, door: 'gateway', effect: 'read' } as unknown as NewOperation
}

export function defineGatewayWrite<I extends TObject, O extends TSchema, P = undefined>(
  row: Omit<GatewayWrite<I, O, P>, Given>,
): NewOperation {
  return { ...row, door: 'gateway', effect: 'write' } as unknown as NewOperation
}

export function defineOperatorRead<I extends TObject, O extends TSchema>(
  row: Omit<OperatorRead<I, O>, Given>,
): NewOperation {
  return { ...row, door: 'operator', effect: 'read' } as unknown as NewOperation
}

export function defineOperatorWrite<I extends TObject, O extends TSchema, P = undefined>(
  row: Omit<OperatorWrite<I, O, P>, Given>,
): NewOperation {
  return { ...row, door: 'operator', effect: 'write' } as unknown as NewOperation
}

/** A GET by an operator whose response is a document or a stream. */
export function defineOperatorReply<I extends TObject>(
  row: Omit<OperatorReplyRow<I>, Given | 'method'>,
): NewReplyOperation {
  return { ...row, door: 'operator', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}

export function defineOperatorControl<I extends TObject, O extends TSchema>(
  row: Omit<OperatorControl<I, O>, Given>,
): NewOperation {
  return { ...row, door: 'operator', effect: 'control' } as unknown as NewOperation
}

/** A POST that hands in events, all at once. */
export function defineReceiver<I extends TObject, O extends TSchema>(
  row: Omit<ReceiverRow<I, O>, Given | 'method' | 'body'>,
): NewOperation {
  return { ...row, door: 'receiver', effect: 'intake', method: 'POST', body: 'json' } as unknown as NewOperation
}

/** A GET by which a caller shows that it knows a verify token. */
export function defineHandshake<I extends TObject>(row: Omit<HandshakeRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'handshake', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}

/** A GET for anyone, whose response is not an object of the API. */
export function defineOpen<I extends TObject>(row: Omit<OpenRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'open', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}

/** A POST by anyone without a body, whose response is not an object of the API: signing in. */
export function defineOpenPost<I extends TObject>(row: Omit<OpenRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'open', effect: 'read', method: 'POST' } as unknown as NewReplyOperation
}

/** A POST of a form by anyone, whose response is a page or a redirect; its handler opens transactions of its own, if it writes. */
export function defineOpenForm<I extends TObject>(
  row: Omit<OpenRow<I>, Given | 'method' | 'takesArguments'>,
): NewReplyOperation {
  return {
    ...row,
    door: 'open',
    effect: 'intake',
    method: 'POST',
    takesArguments: true,
  } as unknown as NewReplyOperation
}

/** A call by anyone that responds with an object of the API; its handler opens transactions of its own, if it writes. */
export function defineOpenCall<I extends TObject, O extends TSchema>(
  row: Omit<OpenOperation<I, O>, Given | 'takesArguments'>,
): NewOperation {
  return { ...row, door: 'open', effect: 'intake', takesArguments: true } as unknown as NewOperation
}

/** A GET by a signed link and a token. */
export function defineLink<I extends TObject>(row: Omit<LinkRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'link', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}

/** A GET by a signed link of the gateway and a token of the network's edge. */
export function defineEdgeLink<I extends TObject>(row: Omit<EdgeLinkRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'edge_link', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}

/** A GET of the network's edge whose response goes on while the connection does: Server-Sent Events. */
export function defineGatewayStream<I extends TObject>(
  row: Omit<StreamRow<I>, Given | 'method' | 'content'>,
): NewReplyOperation {
  const content: ReplyContent = { 'text/event-stream': Type.String({ contentMediaType: 'text/event-stream' }) }
  return { ...row, door: 'gateway', effect: 'read', method: 'GET', content } as unknown as NewReplyOperation
}
