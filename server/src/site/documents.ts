import { setImmediate as nextTurn } from 'node:timers/promises'
import { demoTokens } from '../auth/demo.ts'
import { cutTrailingSlashes } from '../base/text/slashes.ts'
import type { Clock } from '../base/time/clock.ts'
import { once } from '../base/work/once.ts'
import { shareWhileRunning } from '../base/work/share-while-running.ts'
import type { Database } from '../db/database.ts'
import { readMigrations } from '../db/schema/migrations.ts'
import type { ConsoleFiles, Documents } from '../graph/ports.ts'
import { type DocumentName, documentNames } from '../http/openapi/doors.ts'
import { buildOpenApi, type OpenApiOptions } from '../http/openapi/openapi.ts'
import { replyWithPage } from '../replies/missing.ts'
import { type Packed, pack, replyPacked } from '../replies/packed.ts'
import type { Page } from '../replies/page.ts'
import { composeDocsPage } from './docs-page.ts'
import { buildReference } from './operations-by-chapter.ts'
import { composeStartPage } from './start-page.ts'
import { readStoreState } from './store-state.ts'

export interface DocumentsOptions extends Omit<OpenApiOptions, 'serverUrl' | 'document'> {
  /** The base URL as clients see it; known once the server listens. */
  readonly publicUrl: () => string
  readonly database: Database
  readonly clock: Clock
  /** In production the page shows nothing from the store, and fills in no token. */
  readonly production: boolean
}

/** The start page, the docs and the OpenAPI documents. Static ones are made at the first request. */
export function makeDocuments(options: DocumentsOptions): Documents {
  const { publicUrl, packageVersion, database, clock, production, vocabulary, versions } = options
  const prefix = () => cutTrailingSlashes(new URL(publicUrl()).pathname)
  const about = production ? undefined : { store: database.product, startedTime: clock.now() }
  const migrations = readMigrations()

  const openApi = Object.fromEntries(
    documentNames.map((document) => [document, once(() => packDocument(document))]),
  ) as Record<DocumentName, () => Promise<Packed>>
  const chapters = once(async () => buildReference({ ...options, serverUrl: publicUrl() }))
  const docs = {
    bare: keepLast((frame) => packDocs(undefined, frame)),
    demo: keepLast((frame) => packDocs(demoTokens, frame)),
  }
  const readWithDemo = shareWhileRunning(() => readStoreState({ database, clock, migrations, showsDemo: true }))
  const readWithoutDemo = shareWhileRunning(() => readStoreState({ database, clock, migrations, showsDemo: false }))
  const readState = (showsDemo: boolean) => (!production && showsDemo ? readWithDemo() : readWithoutDemo())

  async function packDocument(document: DocumentName): Promise<Packed> {
    const built = buildOpenApi({ ...options, document, serverUrl: publicUrl() })
    return pack(Buffer.from(JSON.stringify(built)), 'application/json; charset=utf-8')
  }

  async function packDocs(tokens: typeof demoTokens | undefined, frame: ConsoleFiles | undefined): Promise<PackedPage> {
    const reference = await chapters()
    // Each of the two takes tens of milliseconds, and other requests need not wait for both.
    await nextTurn()
    const page = composeDocsPage({
      chapters: reference,
      packageVersion,
      publicUrl: publicUrl(),
      prefix: prefix(),
      vocabulary: vocabulary.name,
      tokens,
      frame,
    })
    return { headers: page.headers, packed: await pack(Buffer.from(page.html), 'text/html; charset=utf-8') }
  }

  return {
    async start(showsDemo, notice) {
      const state = await readState(showsDemo)
      const page = composeStartPage({
        prefix: prefix(),
        publicUrl: publicUrl(),
        packageVersion,
        versions,
        vocabulary,
        state,
        about,
        notice,
      })
      return replyWithPage(page, 200, state.error)
    },
    async docs(request, showsDemo, frame) {
      const { demo } = await readState(showsDemo)
      const { headers, packed } = await (demo ? docs.demo(frame) : docs.bare(frame))
      const { 'content-type': _, ...more } = headers
      return replyPacked(request, packed, more)
    },
    async openApi(document, request) {
      return replyPacked(request, await openApi[document]())
    },
  }
}

interface PackedPage {
  readonly headers: Page['headers']
  readonly packed: Packed
}

/** The page for the console that was asked with last: it changes only when the console is built anew. */
function keepLast(make: (frame: ConsoleFiles | undefined) => Promise<PackedPage>): typeof make {
  let kept: { readonly files: string; readonly page: () => Promise<PackedPage> } | undefined
  return (frame) => {
    const files = `${frame?.script} ${frame?.style} ${frame?.worker}`
    if (kept?.files !== files) kept = { files, page: once(() => make(frame)) }
    return kept.page()
  }
}
