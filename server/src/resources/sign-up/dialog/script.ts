/**
 * All of it works without a script but the pop-up, which no page can be without one: the forms that end the dialog say whether a page
 * opened this one, and the last page posts how it ended and goes on. What is posted stands in the page, so that this text is always the
 * same and the policy names its hash.
 */
export const dialogScript = `
if (window.opener) for (const field of document.querySelectorAll('input[name=popup]')) field.value = '1'
const end = document.querySelector('[data-message]')
if (end) {
  try {
    if (window.opener) window.opener.postMessage(JSON.parse(end.dataset.message), end.dataset.origin)
  } finally {
    if (end.dataset.next) location.replace(end.dataset.next)
  }
}
`
