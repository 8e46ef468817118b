// The key that leads to the search field of a page: the same in the console and on the reference without it.

/** Focuses the search field on `/`, except where somebody writes. */
export function focusSearch(event) {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target.closest('input, textarea, select, dialog')) return
  const search = document.querySelector('[data-search]')
  if (!search) return
  event.preventDefault()
  search.focus()
}
