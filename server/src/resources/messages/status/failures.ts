/** Why a message fails after it was accepted: the codes of the status `failed`. */
export const failures = {
  131026: {
    title: 'Message undeliverable',
    details: 'The recipient cannot get messages: the number is not reachable, or belongs to a business.',
  },
  131047: {
    title: 'Re-engagement message',
    details: 'The user has not written within the service window; send a template instead.',
  },
  131050: {
    title: 'User stopped marketing messages',
    details: 'The user has stopped marketing messages of this number; send none until the user resumes them.',
  },
  131049: {
    title: 'Marketing limit reached',
    details: 'The user has got as many marketing messages of this number as a day allows; try again later.',
  },
  131048: {
    title: 'Messaging limit reached',
    details: 'The number has reached as many users within 24 hours as its messaging limit allows; try again later.',
  },
  131009: {
    title: 'Parameter value is not valid',
    details: 'The message to react to is not one of this chat, is no longer kept, or is a reaction itself.',
  },
  131053: {
    title: 'Media upload error',
    details: 'The file behind the link could not be fetched, is too large, or is not of a type that the message takes.',
  },
} as const

export type FailureCode = keyof typeof failures

export const failureCodes = Object.keys(failures).map(Number) as FailureCode[]

export function isFailureCode(code: number): code is FailureCode {
  return Object.hasOwn(failures, code)
}

/** Why a message failed with a code, and what to do. */
export function explainFailure(code: number): string {
  return failures[isFailureCode(code) ? code : 131026].details
}

/** What the status `failed` carries, and what the gateway shows. */
export function describeFailure(code: number, publicUrl: string) {
  const { title, details } = failures[isFailureCode(code) ? code : 131026]
  return { code, title, message: title, error_data: { details }, href: `${publicUrl}/docs` }
}
