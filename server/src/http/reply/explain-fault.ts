import { DatabaseBusy, type Outage } from '../../db/database.ts'
import { FilesUnavailable } from '../../files/unavailable.ts'
import {
  cannotReachFiles,
  cannotReachStore,
  cannotStore,
  cannotStoreFiles,
  internalFault,
  storeBusy,
} from '../../graph/errors.ts'
import { GraphError } from '../../graph/graph-error.ts'
import { requestUnreadable, tooManyWrites } from '../errors.ts'

/** Translates whatever a request threw to an error of the catalogue, and says whether the cause was logged already: an outage was. */
export function explainFault(
  error: unknown,
  outageOf: (error: unknown) => Outage | undefined,
): { known: GraphError; isLogged: boolean } {
  if (error instanceof GraphError) return { known: error, isLogged: false }
  if (error instanceof FilesUnavailable) return { known: explainFilesOutage(error), isLogged: true }
  // Too many writes of one app wait; other obstacles are not its fault.
  if (error instanceof DatabaseBusy && error.kind === 'crowded') {
    return { known: tooManyWrites({ seconds: 1 }), isLogged: true }
  }
  const outage = outageOf(error)
  return outage ? { known: explainOutage(outage, error), isLogged: true } : { known: translate(error), isLogged: false }
}

/** Translates any error to ours. What Fastify refuses is the caller's mistake; everything else is our own. */
export function translate(error: unknown): GraphError {
  const { statusCode, message } = error as { statusCode?: number; message?: string }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return requestUnreadable({ reason: String(message) })
  }
  return internalFault({ cause: error })
}

function explainOutage(outage: Outage, cause: unknown): GraphError {
  switch (outage) {
    case 'unwritable':
      return cannotStore({ seconds: 30 }, { cause })
    case 'unreachable':
      return cannotReachStore({ seconds: 5 }, { cause })
    case 'busy':
      return storeBusy({ seconds: 5 }, { cause })
  }
}

function explainFilesOutage(error: FilesUnavailable): GraphError {
  if (error.kind === 'full') return cannotStoreFiles({ seconds: 30 }, { cause: error })
  return cannotReachFiles({ seconds: error.kind === 'away' ? 5 : 30 }, { cause: error })
}
