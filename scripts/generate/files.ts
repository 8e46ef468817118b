import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readConfig } from '../../server/src/config.ts'
import { listErrors } from '../../server/src/errors.ts'
import { chooseVocabulary } from '../../server/src/graph/vocabulary.ts'
import type { DocumentName } from '../../server/src/http/openapi/doors.ts'
import { buildOpenApi } from '../../server/src/http/openapi/openapi.ts'
import { buildOperations } from '../../server/src/operations.ts'
import { packageVersion } from '../../server/src/version.ts'
import { writeErrorsPage } from './errors-page.ts'
import { writeOperationsPage } from './operations-page.ts'
import { writePublicPage } from './public-page.ts'
import { writeReadme } from './readme.ts'
import { writeSdkFiles } from './sdk/files.ts'
import { writeSettingsPage } from './settings-page.ts'
import { writeSpecPages } from './spec-pages.ts'
import { writeWebhookFields } from './webhook-fields.ts'
import { writeWorldTypes } from './world-types.ts'

/** Every file that is generated from the code and committed with it: its path from the root, and its text. */
export function generateFiles(): Map<string, string> {
  // The defaults, whatever the environment says.
  const config = readConfig({})
  const vocabulary = chooseVocabulary(config.vocabulary)
  const operations = buildOperations(vocabulary)
  const writeDocument = (name: DocumentName) => {
    const { openapi, ...document } = buildOpenApi({
      operations,
      document: name,
      vocabulary,
      versions: config.versions,
      rates: config.rates,
      serverUrl: `http://${config.host}:${config.port}`,
      packageVersion: packageVersion(),
    })
    const mark = 'By `./switchboard gen` from the table of operations. Do not edit: the next run overwrites it.'
    return `${JSON.stringify({ openapi, 'x-generated': mark, ...document }, null, 2)}\n`
  }
  return new Map([
    ['openapi/switchboard.json', writeDocument('business')],
    ['openapi/gateway.json', writeDocument('gateway')],
    ['openapi/operator.json', writeDocument('operator')],
    ['docs/operations.md', writeOperationsPage(operations, vocabulary)],
    ['docs/settings.md', writeSettingsPage()],
    ['docs/errors.md', writeErrorsPage(listErrors(), vocabulary)],
    ['docs/public-platform.md', writePublicPage(buildOperations(chooseVocabulary('whatsapp')))],
    ['README.md', writeReadme(readText('README.md'))],
    ...writeSdkFiles(),
    ['testing/src/generated/world.ts', writeWorldTypes()],
    ['testing/src/generated/webhook-fields.ts', writeWebhookFields()],
    ...writeSpecPages(operations, {
      specification: readText('docs/spec/management-api.md'),
      decisions: readText('docs/spec/decisions.md'),
      titleOf: (reason) => /^# (.+)$/m.exec(readText(`docs/decisions/${reason}.md`))?.[1] ?? reason,
    }),
  ])
}

/** A source file in this clone for generated files. */
function readText(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
}

/** Writes the generated files under a root, and returns the paths of those that changed. */
export async function writeGenerated(root: string, files = generateFiles()): Promise<string[]> {
  const changed = await checkGenerated(root, files)
  for (const path of changed) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), files.get(path) ?? '')
  }
  return changed
}

/** The paths of generated files under a root that are missing or out of date. */
export async function checkGenerated(root: string, files = generateFiles()): Promise<string[]> {
  const differing: string[] = []
  for (const [path, content] of files) {
    if ((await readIfThere(join(root, path))) !== content) differing.push(path)
  }
  return differing
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
