// Where one is in the reference: the filter, the list of chapters beside it, and links to operations.

/** What is read is a little below the top of what scrolls. */
const readingLine = 120

/** Follows what is typed, scrolled and linked to, until the signal. */
export function startPlaces(root, signal) {
  const find = root.querySelector('#find')
  const sidebar = root.querySelector('.chapters')
  const scroller = findScroller(root)
  const haystacks = [...root.querySelectorAll('.op')].map((op) => ({
    op,
    text: `${op.id} ${op.querySelector('summary').textContent}`.toLowerCase(),
  }))
  /** Chapters with their links in the sidebar, from top to bottom. */
  const places = [...root.querySelectorAll('section')].map((section) => ({
    section,
    link: sidebar.querySelector(`nav a[href="#${section.querySelector('h2').id}"]`),
  }))
  let isMarking = false

  find.addEventListener('input', filter, { signal })
  // What scrolls is the window or the page of the console; its events do not bubble.
  document.addEventListener('scroll', markSoon, { signal, passive: true, capture: true })
  addEventListener('resize', markSoon, { signal })
  addEventListener('hashchange', openTarget, { signal })
  for (const op of root.querySelectorAll('.op > summary')) {
    op.addEventListener(
      'click',
      () => {
        if (!op.parentElement.open) history.replaceState(history.state, '', `#${op.parentElement.id}`)
      },
      { signal },
    )
  }
  openTarget()
  markPlace()

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
    root.querySelector('.none').hidden = shown > 0
    markPlace()
  }

  function markSoon() {
    if (isMarking) return
    isMarking = true
    requestAnimationFrame(() => {
      isMarking = false
      markPlace()
    })
  }

  /** Marks the chapter that is being read: the last one that begins above the reading line, or at the end of the page the last. */
  function markPlace() {
    const visible = places.filter(({ section }) => !section.hidden)
    const begun = visible.filter(({ section }) => section.getBoundingClientRect().top <= readingLine)
    const { scrollTop, clientHeight, scrollHeight } = scroller
    const isAtEnd = scrollTop > 0 && clientHeight + scrollTop >= scrollHeight - 2
    const current = isAtEnd ? visible.at(-1) : begun.at(-1)
    for (const place of places) {
      if (place === current) place.link.setAttribute('aria-current', 'true')
      else place.link.removeAttribute('aria-current')
    }
    if (current) bringIntoSidebar(current.link)
  }

  /** Where the sidebar scrolls on its own, the marked link stays in sight; the page itself is not moved. */
  function bringIntoSidebar(link) {
    const row = link.closest('ul')
    if (row.scrollWidth > row.clientWidth) row.scrollLeft = link.offsetLeft - row.offsetLeft
    if (sidebar.scrollHeight <= sidebar.clientHeight) return
    const room = sidebar.getBoundingClientRect()
    const { top, bottom } = link.getBoundingClientRect()
    if (top < room.top) sidebar.scrollTop += top - room.top
    else if (bottom > room.bottom) sidebar.scrollTop += bottom - room.bottom
  }

  /** A link to an operation opens it, also when it was filtered out. */
  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
    if (!target || !root.contains(target)) return
    if (target.matches('.op')) {
      if (target.hidden) {
        find.value = ''
        filter()
      }
      target.open = true
    }
    target.scrollIntoView()
  }
}

function findScroller(root) {
  const page = root.closest('main')
  return page && getComputedStyle(page).overflowY === 'auto' ? page : document.scrollingElement
}
