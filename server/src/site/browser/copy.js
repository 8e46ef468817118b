// The buttons beside lines to paste; without this script they are not shown.
for (const button of document.querySelectorAll('.copy')) button.hidden = false
document.addEventListener('click', async ({ target }) => {
  if (!target.matches('.copy')) return
  const line = target.parentElement.querySelector('code')
  let told = 'Copied'
  try {
    await navigator.clipboard.writeText(line.textContent)
  } catch {
    // Refused, or the page did not come over a secure connection: then the line is marked, to be copied by hand.
    getSelection().selectAllChildren(line)
    told = 'Marked'
  }
  target.textContent = told
  setTimeout(() => {
    target.textContent = 'Copy'
  }, 1500)
})
