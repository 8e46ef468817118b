// The buttons beside lines to paste; without this script they are not shown.

export function startCopying(root) {
  for (const button of root.querySelectorAll('.copy')) button.hidden = false
  root.addEventListener('click', async ({ target }) => {
    if (!target.matches('.copy')) return
    const line = target.parentElement.querySelector('code')
    let label = 'Copied'
    try {
      await navigator.clipboard.writeText(line.textContent)
    } catch {
      // Refused, or the connection is not secure: the line is selected instead, to be copied by hand.
      getSelection().selectAllChildren(line)
      label = 'Selected'
    }
    target.textContent = label
    setTimeout(() => {
      target.textContent = 'Copy'
    }, 1500)
  })
}
