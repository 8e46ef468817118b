/**
 * The names on the wire that differ between the two public vocabularies. Chosen once at the start; rows and schemas are made from it,
 * and no other code knows that there are two.
 */
export interface Vocabulary {
  readonly name: 'msgapp' | 'whatsapp'
  /** The product's name: the value of `messaging_product`, and a part of path segments, objects and scopes. */
  readonly product: string
  /** The member of an error with the trace of the request. */
  readonly trace_member: string
  /** The header with the trace, on every response. */
  readonly trace_header: string
  /** The `object` of webhook envelopes and subscriptions. */
  readonly account_object: string
  /** Habits of the client libraries that exist for a vocabulary. */
  readonly habits: {
    /** A path without a version is served as the newest one. */
    readonly version_optional: boolean
    /** The token may come as the query parameter `access_token`. */
    readonly token_in_query: boolean
    /** `POST …/message_qrdls/{code}` updates that code. */
    readonly update_qr_code_by_path: boolean
    /** Nodes also have the fields in the libraries' types; a profile is also in the object that holds it. */
    readonly library_fields: boolean
  }
}

export const vocabularyNames = ['msgapp', 'whatsapp'] as const
export type VocabularyName = (typeof vocabularyNames)[number]

const vocabularies: Record<VocabularyName, Vocabulary> = {
  msgapp: {
    name: 'msgapp',
    product: 'msgapp',
    trace_member: 'svctrace_id',
    trace_header: 'x-svctrace-id',
    account_object: 'msgapp_business_account',
    habits: { version_optional: false, token_in_query: false, update_qr_code_by_path: false, library_fields: false },
  },
  whatsapp: {
    name: 'whatsapp',
    product: 'whatsapp',
    trace_member: 'fbtrace_id',
    trace_header: 'x-fbtrace-id',
    account_object: 'whatsapp_business_account',
    habits: { version_optional: true, token_in_query: true, update_qr_code_by_path: true, library_fields: true },
  },
}

export function chooseVocabulary(name: VocabularyName): Vocabulary {
  return vocabularies[name]
}
