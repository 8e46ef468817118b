/** The `paging` of an example. */
export const exampleCursors = { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } }

export const exampleTime = '2026-06-01T12:00:00.000Z'
