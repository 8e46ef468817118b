// Runs on the page of the reference: fills in, sends, shows. Everything that it needs stands in the page.
const byId = (id) => document.getElementById(id)
const main = byId('content')
const base = location.origin + main.dataset.prefix
const forms = new Map([...document.querySelectorAll('form.try')].map((form) => [form.closest('.op').id, form]))
/** What was answered to writes that others build on, by the name of the operation. */
const answers = new Map()

for (const hidden of document.querySelectorAll('.find, .send button')) hidden.hidden = false

for (const [name, form] of forms) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    press(name, form)
  })
  form.addEventListener('input', () => showCurl(form))
  showCurl(form)
}
for (const input of document.querySelectorAll('[data-token]')) {
  input.addEventListener('input', () => forms.forEach(showCurl))
}
document.querySelector('.tokens').addEventListener('submit', (event) => event.preventDefault())

/** Sends what stands in a form, and before it what it needs. */
async function press(name, form) {
  const button = form.querySelector('.send button')
  const status = form.querySelector('.status')
  const area = form.querySelector('.answer')
  const steps = form.querySelector('.steps')
  button.disabled = true
  status.className = 'status'
  status.textContent = 'Sending…'
  steps.replaceChildren()
  try {
    const started = performance.now()
    const answer = await send(name, (step) => {
      const item = document.createElement('li')
      item.textContent = step
      steps.append(item)
    })
    status.classList.add(answer.ok ? 'good' : 'bad')
    status.textContent = `${answer.status} ${answer.statusText} in ${Math.round(performance.now() - started)} ms`
    showAnswer(area.querySelector('pre'), answer.text)
    area.hidden = false
  } catch (problem) {
    status.classList.add('bad')
    status.textContent = problem.message
    area.hidden = true
  } finally {
    button.disabled = false
    showCurl(form)
  }
}

async function send(name, tell) {
  const form = forms.get(name)
  const { first, method } = readRequest(form)
  for (const { send: needed, take } of first) {
    if (take && !isEmpty(form, take.as)) continue
    if (!take && answers.has(needed)) continue
    const answer = answers.get(needed) ?? (await prepare(needed, tell))
    if (take) fillIn(form, take.as, readPointer(answer, take.pointer, needed))
  }
  const { url, init } = writeRequest(form)
  const response = await fetch(url, init)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const text = isStream ? await readStart(response) : await response.text()
  if (response.ok && method !== 'GET') {
    answers.set(name, readJson(text))
    for (const preparation of first) useUp(form, preparation)
  }
  return { ok: response.ok, status: response.status, statusText: response.statusText, text }
}

/** What a stream, which has no end, tells at first. */
async function readStart({ body }) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  const end = setTimeout(() => reader.cancel(), 2000)
  let text = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value
  clearTimeout(end)
  return text
}

/** A write uses up what it was built on: whatever else was built on the same starts anew. */
function useUp(form, { send: needed, take }) {
  answers.delete(needed)
  if (!take) return
  const used = argumentIn(form, take.as).value
  for (const other of forms.values()) {
    for (const { take: taken } of readRequest(other).first) {
      if (!taken || argumentIn(other, taken.as).value !== used) continue
      fillIn(other, taken.as, '')
      showCurl(other)
    }
  }
}

async function prepare(name, tell) {
  const { ok, status, text } = await send(name, tell)
  tell(`${name}: ${status}`)
  if (!ok) throw new Error(`${name}, which is sent first, was refused: ${readJson(text)?.error?.message ?? text}`)
  return readJson(text)
}

function readRequest(form) {
  return JSON.parse(form.dataset.request)
}

/** The request as the form has it now. */
function writeRequest(form) {
  const { method, path, who, bytes } = readRequest(form)
  const headers = {}
  const query = []
  let filled = path
  const token = who === 'nobody' ? undefined : byId(`token-${who}`)
  if (token) {
    if (token.value.trim() === '') {
      token.focus()
      throw new Error('Enter a token at the top of the page first.')
    }
    headers.Authorization = `Bearer ${token.value.trim()}`
  }
  for (const { name, value, dataset } of form.querySelectorAll('[data-in]')) {
    if (dataset.in === 'path') {
      if (value === '') throw new Error(`${name} is needed.`)
      filled = filled.replace(`{${name}}`, encodeURIComponent(value))
    } else if (value !== '' && dataset.in === 'header') headers[name] = value
    else if (value !== '') query.push(`${name}=${encodeURIComponent(value)}`)
  }
  const area = form.elements.namedItem('body')
  if (area) headers['Content-Type'] = 'application/json'
  if (bytes) headers['Content-Type'] = 'application/octet-stream'
  const body = bytes ? Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)) : area?.value
  const url = `${base}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`
  return { url, init: { method, headers, body, cache: 'no-store', credentials: 'omit' } }
}

function showCurl(form) {
  const { method, path, who, bytes } = readRequest(form)
  const words = ['curl']
  const area = form.elements.namedItem('body')
  if (method !== (area || bytes ? 'POST' : 'GET')) words.push('-X', method)
  if (who !== 'nobody') {
    words.push('-H', quote(`Authorization: Bearer ${byId(`token-${who}`).value.trim() || 'TOKEN'}`))
  }
  const query = []
  let filled = path
  for (const { name, value, dataset } of form.querySelectorAll('[data-in]')) {
    if (value === '') continue
    if (dataset.in === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value))
    else if (dataset.in === 'header') words.push('-H', quote(`${name}: ${value}`))
    else query.push(`${name}=${encodeURIComponent(value)}`)
  }
  if (area) words.push('-H', quote('Content-Type: application/json'), '-d', quote(writeOneLine(area.value)))
  if (bytes) {
    const text = atob(bytes)
    // What can be read stands in the line itself.
    const data = /^[\x20-\x7e]*$/.test(text) ? ['-d', quote(text)] : ['--data-binary', quote('@picture.png')]
    words.push('-H', quote('Content-Type: application/octet-stream'), ...data)
  }
  words.push(quote(`${base}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`))
  form.querySelector('.code code').textContent = words.join(' ')
}

/** What is JSON in one line, anything else as it is. */
function writeOneLine(text) {
  const value = readJson(text)
  return value === undefined ? text : JSON.stringify(value)
}

function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Text, in which addresses of this server can be followed. */
function showAnswer(place, text) {
  const value = readJson(text)
  const shown = value === undefined ? text : JSON.stringify(value, null, 2)
  place.replaceChildren(
    ...shown.split(/(https?:\/\/[^\s"\\]+)/).map((part) => {
      if (!part.startsWith(`${location.origin}/`)) return part
      const link = document.createElement('a')
      link.href = part
      link.textContent = part
      return link
    }),
  )
}

function isEmpty(form, argument) {
  return argumentIn(form, argument).value === ''
}

function fillIn(form, argument, value) {
  argumentIn(form, argument).value = value
}

/** An argument of a form, be it a field of its own or a member of the body: `list/0` is the first of a list. */
function argumentIn(form, argument) {
  const field = form.querySelector(`[data-in][name="${argument}"]`)
  if (field) return field
  const area = form.elements.namedItem('body')
  const [name, index] = argument.split('/')
  return {
    get value() {
      const member = readJson(area.value)?.[name]
      return (index === undefined ? member : member?.[index]) ?? ''
    },
    set value(value) {
      const body = readJson(area.value)
      if (body === undefined) return
      body[name] = index === undefined ? value : [value]
      area.value = JSON.stringify(body, null, 2)
    },
  }
}

function readPointer(answer, pointer, name) {
  const found = pointer
    .split('/')
    .slice(1)
    .reduce((value, member) => value?.[member], answer)
  if (found === undefined) throw new Error(`${name}, which is sent first, gave nothing to go on with.`)
  return found
}

function readJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const find = byId('find')
const haystacks = [...document.querySelectorAll('.op')].map((op) => ({
  op,
  text: `${op.id} ${op.querySelector('summary').textContent}`.toLowerCase(),
}))
find.addEventListener('input', filter)

function filter() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const { op, text } of haystacks) op.hidden = !words.every((word) => text.includes(word))
  let shown = 0
  for (const { section, link } of places) {
    const found = section.querySelectorAll('.op:not([hidden])').length
    section.hidden = found === 0
    link.parentElement.hidden = found === 0
    link.querySelector('span').textContent = found
    shown += found
  }
  document.querySelector('.none').hidden = shown > 0
  markPlace()
}

/** Chapters with their links in the sidebar, from top to bottom. */
const places = [...document.querySelectorAll('main section')].map((section) => ({
  section,
  link: document.querySelector(`aside nav a[href="#${section.querySelector('h2').id}"]`),
}))
const sidebar = document.querySelector('aside')
/** What is read is a little below the top of the window. */
const readingLine = 120

/** Marks the chapter that is being read: the last one that begins above the reading line, or at the end of the page the last. */
function markPlace() {
  const visible = places.filter(({ section }) => !section.hidden)
  const begun = visible.filter(({ section }) => section.getBoundingClientRect().top <= readingLine)
  const isAtEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2
  const current = isAtEnd ? visible.at(-1) : begun.at(-1)
  for (const place of places) {
    if (place === current) place.link.setAttribute('aria-current', 'true')
    else place.link.removeAttribute('aria-current')
  }
  if (current) bringIntoSidebar(current.link)
}

/** Where the sidebar scrolls on its own, the marked link stays in sight; the page itself is not moved. */
function bringIntoSidebar(link) {
  if (sidebar.scrollHeight <= sidebar.clientHeight) return
  const room = sidebar.getBoundingClientRect()
  const { top, bottom } = link.getBoundingClientRect()
  if (top < room.top) sidebar.scrollTop += top - room.top
  else if (bottom > room.bottom) sidebar.scrollTop += bottom - room.bottom
}

let isMarking = false
addEventListener(
  'scroll',
  () => {
    if (isMarking) return
    isMarking = true
    requestAnimationFrame(() => {
      isMarking = false
      markPlace()
    })
  },
  { passive: true },
)
addEventListener('resize', markPlace)

/** A link to an operation opens it, also when it was filtered out. */
function openTarget() {
  const target = byId(decodeURIComponent(location.hash.slice(1)))
  if (!target?.matches('.op')) return
  if (target.hidden) {
    find.value = ''
    filter()
  }
  target.open = true
  target.scrollIntoView()
}
addEventListener('hashchange', openTarget)
openTarget()
for (const op of document.querySelectorAll('.op > summary')) {
  op.addEventListener('click', () => {
    if (!op.parentElement.open) history.replaceState(null, '', `#${op.parentElement.id}`)
  })
}
markPlace()
