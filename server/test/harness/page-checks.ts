// Code for the page is kept as text, because it is sent to the browser and knows nothing of this process.

export interface PageFindings {
  /** Texts whose contrast is below WCAG AA. */
  readonly poor: readonly string[]
  /** How wide the page is, with what lies outside the window. */
  readonly needed: number
  readonly ground: string
}

/** Opens what can be opened, only a part if it is much, and inspects it. */
export const inspectPage = `(() => {
  const opened = [...document.querySelectorAll('details')].slice(0, 20)
  for (const one of opened) one.open = true
  const read = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\\d.]+/g).map(Number)
    return { channels: [red, green, blue], alpha }
  }
  const luminance = (channels) => {
    const [red, green, blue] = channels.map((channel) => {
      const share = channel / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const groundOf = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const { channels, alpha } = read(getComputedStyle(one).backgroundColor)
      if (alpha === 1) return channels
    }
    return [255, 255, 255]
  }
  const poor = []
  for (const element of document.body.querySelectorAll('*')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (!hasText && !element.matches('input, textarea')) continue
    if (element.matches('script, style, noscript') || !element.checkVisibility()) continue
    const style = getComputedStyle(element)
    const [more, less] = [luminance(read(style.color).channels), luminance(groundOf(element))].sort((a, b) => b - a)
    const ratio = (more + 0.05) / (less + 0.05)
    const size = parseFloat(style.fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
    if (ratio < (isLarge ? 3 : 4.5)) poor.push(ratio.toFixed(2) + ' ' + element.outerHTML.slice(0, 120))
  }
  const needed = document.documentElement.scrollWidth
  for (const one of opened) one.open = false
  return { poor: poor.slice(0, 10), needed, ground: getComputedStyle(document.body).backgroundColor }
})()`

/** The element that has the focus, and what is drawn around it. */
export const describeFocus = `(() => {
  const { tagName } = document.activeElement
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
  return { name: tagName, outline: outlineStyle + ' ' + outlineWidth }
})()`

/** Presses every Send of the reference, one after the other, and returns the result of each. Nothing is drawn meanwhile, which would take longest. */
export const pressEverySend = `(async () => {
  const told = {}
  document.body.hidden = true
  for (const operation of document.querySelectorAll('.op')) {
    operation.open = true
    const status = operation.querySelector('.status')
    const settled = new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (!status.matches('.good, .bad') || status.textContent === 'Sending…') return
        observer.disconnect()
        resolve()
      })
      observer.observe(status, { childList: true, attributes: true })
    })
    operation.querySelector('.send button').click()
    await settled
    const answer = operation.querySelector('.answer pre').textContent
    told[operation.id] = status.textContent + (status.matches('.good') ? '' : ' ' + answer)
    operation.open = false
  }
  document.body.hidden = false
  return told
})()`

// What watches the sizes of elements is called when the page is drawn, which a new size of the window has not caused yet.
export const untilDrawn = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'

/** The faults that axe finds in the page as it is drawn, with the elements that have them; axe has to be in the page. */
export const runAxe = `${untilDrawn}
  .then(() => axe.run({ resultTypes: ['violations'] }))
  .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 160))))`

/** Whether the page is wider than its window, and the controls that are cut off at a side where nothing can be scrolled. */
export const findCutOff = `(() => {
  const found = []
  const { scrollWidth } = document.documentElement
  if (scrollWidth > innerWidth) found.push('the page is ' + scrollWidth + ' wide')
  // They scroll down, and would scroll to the side as well.
  for (const box of document.querySelectorAll('main, dialog[open]')) {
    if (box.scrollWidth > box.clientWidth + 1) found.push(box.tagName + ' is ' + box.scrollWidth + ' wide in ' + box.clientWidth)
  }
  const name = (element) => element.outerHTML.slice(0, 160)
  for (const control of document.querySelectorAll('button, input, select, textarea, summary, [role=button]')) {
    if (!control.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const own = control.getBoundingClientRect()
    // What is only for screen readers is a pixel large.
    if (own.width <= 2 || own.height <= 2) continue
    let left = -Infinity
    let right = Infinity
    let box = control.parentElement
    for (; box; box = box.parentElement) {
      const { overflowX } = getComputedStyle(box)
      if (overflowX === 'auto' || overflowX === 'scroll') break
      if (overflowX === 'visible') continue
      const around = box.getBoundingClientRect()
      left = Math.max(left, around.left)
      right = Math.min(right, around.right)
    }
    if (!box) {
      left = Math.max(left, 0)
      right = Math.min(right, innerWidth)
    }
    if (own.left < left - 2 || own.right > right + 2) found.push('cut off: ' + name(control))
  }
  return found
})()`

/** The links of the rows whose first word is not to be seen, because the row, the table or the window ends before it. */
export const findHiddenBeginnings = `(() => {
  const links = [...document.querySelectorAll('tbody tr')].map((row) => row.querySelector('a'))
  if (links.length === 0) return ['no row']
  return links.flatMap((link) => {
    if (!link) return ['a row without a link']
    const text = document.createTreeWalker(link, NodeFilter.SHOW_TEXT).nextNode()
    const range = document.createRange()
    range.setStart(text, 0)
    range.setEnd(text, text.data.split(' ')[0].length)
    const { left, right } = range.getBoundingClientRect()
    for (let one = link; one; one = one.parentElement) {
      if (getComputedStyle(one).overflowX === 'visible') continue
      const box = one.getBoundingClientRect()
      if (left < box.left - 1 || right > Math.min(box.right, innerWidth) + 1) return [text.data]
    }
    return []
  })
})()`
