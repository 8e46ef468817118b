import { render } from 'preact'
import './style/base.css'
import './style/frame.css'
import './style/live-line.css'
import './style/pages.css'
import './style/tables.css'
import '../shared/docs.css'
import { App, enter } from './frame.tsx'
import { takeReference } from './pages/docs.tsx'
import { loadRoute } from './routes.tsx'
import { applyTheme } from './theme.ts'

applyTheme()
const app = document.getElementById('app')
const entered = enter()
loadRoute()
// The reference is drawn at once. Of other pages the frame that the server wrote stays until it is known who is there.
const isReference = takeReference(document) !== undefined
if (!isReference) await entered
if (app) {
  app.replaceChildren()
  render(<App />, app)
}
