import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })

/** `phone` of `pages/phone/content/cards.css`: the page that a file is of, or its folder outside pages. */
function roomOf(file: string): string {
  const [folder = '', page = ''] = relative('.', file).split('/')
  return folder === 'pages' ? page : folder
}

/** Styles of a page stay when another page is opened: a class of both would get them there too. */
test('the class that a style sheet of a page is scoped to is used on no other page', () => {
  const texts = files
    .filter((file) => file.endsWith('.tsx'))
    .map((file) => [file, readFileSync(join(root, file), 'utf8')])
  const shared: string[] = []
  for (const file of files.filter((name) => name.startsWith('pages/') && name.endsWith('.css'))) {
    for (const [, name] of readFileSync(join(root, file), 'utf8').matchAll(/@scope \(\.([\w-]+)/g)) {
      const uses = new RegExp(`class=(?:"|\\{\`)(?:[^"\`]* )?${name}(?:[ "\`])`)
      const others = texts.filter(([other = '', text = '']) => roomOf(other) !== roomOf(file) && uses.test(text))
      shared.push(...others.map(([other]) => `${file}: .${name} is also in ${other}`))
    }
  }
  assert.deepEqual(shared, [])
})
