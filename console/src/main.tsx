import { render } from 'preact'
import './style/base.css'
import './style/frame.css'
import './style/phone.css'
import './style/pages.css'
import '../../server/src/site/browser/docs.css'
import { App } from './frame.tsx'
import { takeReference } from './pages/docs.tsx'
import { applyTheme } from './theme.ts'

applyTheme()
const app = document.getElementById('app')
if (app) {
  takeReference(document)
  app.replaceChildren()
  render(<App />, app)
}
