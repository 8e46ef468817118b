// Runs on the page of the reference: fills in, sends, shows. Everything that it needs stands in the page.
import { startCopying } from './copy.js'
import { startPlaces } from './places.js'
import { readJson, writeSample } from './samples.js'

const languageKey = 'switchboard-language'

/** Brings a reference to life; what it hears of the document ends with the signal. */
export function startReference(root, signal) {
  const forms = new Map([...root.querySelectorAll('form.try')].map((form) => [form.closest('.op').id, form]))
  const reference = {
    root,
    forms,
    base: location.origin + root.dataset.prefix,
    /** What was answered to writes that others build on, by the name of the operation. */
    answers: new Map(),
  }
  if (!root.dataset.live) {
    root.dataset.live = 'true'
    for (const hidden of root.querySelectorAll('.find, .send button, .languages')) hidden.hidden = false
    startCopying(root)
    startForms(reference)
    startLanguages(root)
  }
  startPlaces(root, signal)
}

function startForms(reference) {
  const { root } = reference
  root.addEventListener('submit', (event) => {
    event.preventDefault()
    const { target: form } = event
    if (form.matches('.try')) void press(reference, form.closest('.op').id, form)
  })
  root.addEventListener('input', ({ target }) => {
    const form = target.closest('form.try')
    if (form) showSamples(reference, form)
    else if (target.closest('.tokens')) showOpenSamples(reference)
  })
  // Hundreds of samples that nobody has opened are not written anew. The event does not bubble.
  root.addEventListener(
    'toggle',
    ({ target }) => {
      if (target.matches('.op[open]')) showSamples(reference, reference.forms.get(target.id))
    },
    true,
  )
  showOpenSamples(reference)
}

function showOpenSamples(reference) {
  for (const form of reference.root.querySelectorAll('.op[open] form.try')) showSamples(reference, form)
}

/** One choice for the whole page, and for the next visit. */
function startLanguages(root) {
  const choose = (language) => {
    root.dataset.language = language
    for (const button of root.querySelectorAll('.languages button')) {
      button.setAttribute('aria-pressed', button.dataset.language === language)
    }
  }
  root.addEventListener('click', ({ target }) => {
    const { language } = target.closest('.languages button')?.dataset ?? {}
    if (!language) return
    choose(language)
    localStorage.setItem(languageKey, language)
  })
  const known = localStorage.getItem(languageKey)
  choose(root.querySelector(`.languages [data-language="${CSS.escape(known ?? '')}"]`) ? known : 'curl')
}

/** Sends what stands in a form, and before it what it needs. */
async function press(reference, name, form) {
  const button = form.querySelector('.send button')
  const status = form.querySelector('.status')
  const area = form.querySelector('.answer')
  const steps = form.querySelector('.needed')
  button.disabled = true
  status.className = 'status'
  status.textContent = 'Sending…'
  steps.replaceChildren()
  try {
    const started = performance.now()
    const answer = await send(reference, name, (step) => {
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
    showSamples(reference, form)
  }
}

async function send(reference, name, report) {
  const { forms, answers } = reference
  const form = forms.get(name)
  const { first, method } = readRequest(form)
  for (const { send: needed, take } of first) {
    if (take && !isEmpty(form, take.as)) continue
    if (!take && answers.has(needed)) continue
    const answer = answers.get(needed) ?? (await prepare(reference, needed, report))
    if (take) fillIn(form, take.as, readPointer(answer, take.pointer, needed))
  }
  const { url, init } = writeRequest(reference, form)
  const response = await fetch(url, init)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const text = isStream ? await readStart(response) : await response.text()
  if (response.ok && method !== 'GET') {
    answers.set(name, readJson(text))
    for (const preparation of first) useUp(reference, form, preparation)
  }
  return { ok: response.ok, status: response.status, statusText: response.statusText, text }
}

/** The first events of a stream, which has no end. */
async function readStart({ body }) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  const end = setTimeout(() => reader.cancel(), 2000)
  let text = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value
  clearTimeout(end)
  return text
}

/** A write uses up what it was built on: whatever else was built on the same starts anew. */
function useUp(reference, form, { send: needed, take }) {
  reference.answers.delete(needed)
  if (!take) return
  const used = argumentIn(form, take.as).value
  for (const other of reference.forms.values()) {
    for (const { take: taken } of readRequest(other).first) {
      if (!taken || argumentIn(other, taken.as).value !== used) continue
      fillIn(other, taken.as, '')
      showSamples(reference, other)
    }
  }
}

async function prepare(reference, name, report) {
  const { ok, status, text } = await send(reference, name, report)
  report(`${name}: ${status}`)
  if (!ok) throw new Error(`${name}, which is sent first, was refused: ${readJson(text)?.error?.message ?? text}`)
  return readJson(text)
}

function readRequest(form) {
  return JSON.parse(form.dataset.request)
}

/** The request as the form has it now. */
function writeRequest({ root, base }, form) {
  const { method, path, who, bytes } = readRequest(form)
  const headers = {}
  const query = []
  let filled = path
  const token = who === 'nobody' ? undefined : root.querySelector(`#token-${who}`)
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

function showSamples({ root, base }, form) {
  const request = readRequest(form)
  const { vocabulary } = root.dataset
  const token = root.querySelector(`#token-${request.who}`)?.value.trim() || 'TOKEN'
  const fields = [...form.querySelectorAll('[data-in]')].map(({ name, value, dataset }) => ({
    name,
    in: dataset.in,
    value,
    type: dataset.type,
  }))
  const body = form.elements.namedItem('body')?.value
  for (const sample of form.querySelectorAll('.sample')) {
    const text = writeSample(sample.dataset.language, { ...request, base, token, fields, body, vocabulary })
    sample.querySelector('code').textContent = text
  }
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
